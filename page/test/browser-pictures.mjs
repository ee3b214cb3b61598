/*
 * What pages show in pictures and lists, held against reports: the flame graph frame by frame, the
 * timeline, callers and callees, and the summary's shares. Tests of browser.mjs.
 */
import assert from "node:assert/strict";
import { wrong } from "./oracle.mjs";

/** What shares of trees and callers are of, by method. */
const MAIN = { sampling: "inclusive_work_time", instrumentation: "elapsed_inclusive_time", memory: "inclusive_bytes" };

export function pictureTests(page, oracle) {
	const { session } = oracle.report("functions", "--top", "1");
	const share = `${MAIN[session.method]}_percent`;

	/** The tree's rows as nodes, each with its children. */
	function tree() {
		const columns = ["level", "function_name", share, share.replace("inclusive", "exclusive")];
		const root = { level: -1, children: [] };
		const path = [root];
		for (const row of oracle.report("calltree", "--no-fold", "--trim", "0", "--columns", columns.join(",")).rows) {
			path.length = row.level + 1;
			const node = { ...row, children: [] };
			path.at(-1).children.push(node);
			path.push(node);
		}
		return root;
	}

	/** The frame at hand, in the words of the line above the graph. */
	async function frame() {
		const line = await page.text(".flame-line");
		const [, all] = /([0-9.]+) % of all/.exec(line) ?? assert.fail(line);
		const [, own] = /of its own \(([0-9.]+) %\)/.exec(line) ?? assert.fail(line);
		return { line, all, own };
	}

	async function holdFrame(node) {
		const { line, all, own } = await frame();
		assert.ok(line.startsWith(node.function_name.slice(0, 60)), `${line} for ${node.function_name}`);
		assert.equal(wrong(all, node[share]), "", line);
		assert.equal(wrong(own, node[share.replace("inclusive", "exclusive")]), "", line);
	}

	/** Tips of the timeline at each pixel: [ns, value] in the unit of the session. */
	async function timeline() {
		const box = await (await page.page.$(".timeline canvas")).boundingBox();
		const drag = async (a, b) => {
			await page.page.mouse.move(a, box.y + 20);
			await page.page.mouse.down();
			await page.page.mouse.move(b, box.y + 20, { steps: 3 });
			await page.page.mouse.up();
			await page.settle();
			const at = new URLSearchParams(await page.hash());
			return [Number(at.get("from")), Number(at.get("until"))];
		};
		const [x1, x2] = [Math.round(box.x + box.width * 0.3), Math.round(box.x + box.width * 0.7)];
		const [ns1, ns2] = await drag(x1, x2);
		const nsOf = (x) => ns1 + ((x - x1) * (ns2 - ns1)) / (x2 - x1);
		const units = { ns: 1, "µs": 1e3, ms: 1e6, s: 1e9, B: 1, kB: 1e3, MB: 1e6 };
		const seen = [];
		const tips = await page.page.evaluate(([left, width, clientY]) => Array.from({ length: Math.floor(width) }, (_, i) => {
			const clientX = Math.ceil(left) + i;
			document.querySelector(".timeline canvas").dispatchEvent(new PointerEvent("pointermove", { clientX, clientY, bubbles: true }));
			return [clientX, document.querySelector(".tip").textContent];
		}), [box.x, box.width, box.y + 30]);
		for (const [x, tip] of tips) {
			const ns = nsOf(x);
			if (ns < 0 || ns >= session.duration_ns) continue;
			const [, n, unit = "ns"] = /(?:running|bytes|count): ([0-9.,]+) ?([a-zµA-Z]*)/.exec(tip) ?? assert.fail(tip);
			const [, of, ofUnit] = / of ([0-9.]+) ([a-zµ]+) \(/.exec(tip) ?? [];
			seen.push({ ns, value: Number(n.replaceAll(",", "")) * (units[unit] ?? 1), bucket: of && Number(of) * units[ofUnit] });
		}
		return seen;
	}

	/** What runs until @ns, or is allocated, as reports have it. */
	function amountUntil(ns) {
		const range = ns < session.duration_ns ? ["--until", `${Math.round(ns)}ns`] : [];
		if (session.method === "sampling") return (oracle.report("functions", "--top", "1", ...range).session.samples_reported * 1e9) / session.frequency_hz;
		const [inclusive, own] = session.method === "memory"
			? ["inclusive_bytes", "exclusive_bytes"]
			: ["application_inclusive_time", "application_exclusive_time"];
		const { rows } = oracle.report("calltree", "--no-fold", "--trim", "0", "--columns", `level,function_name,${inclusive},${own}`, ...range);
		// The timeline has what functions do, not what threads do outside them.
		return rows.reduce((sum, row) => sum + (row.level ? 0 : row[inclusive]) - (row.function_name.startsWith("[thread ") ? row[own] : 0), 0);
	}

	return {
		async flame_graph_has_the_tree_s_frames() {
			await page.go("view=flame");
			await page.page.focus(".flame-panel");
			let level = tree().children;
			let held = 0;
			for (; level.length; held++) {
				const [most, next] = level.toSorted((a, b) => b[share] - a[share]);
				await page.press("ArrowDown");
				// Of siblings that have as much any may be the first.
				if (next && wrong(most[share].toFixed(2), next[share]) === "") break;
				if (held > 2 && (await frame()).all !== most[share].toFixed(2) && most[share] < 0.1) break; // too small to be drawn
				await holdFrame(most);
				if (next?.[share] > 1) {
					await page.press("ArrowRight");
					await holdFrame(next);
					await page.press("ArrowLeft");
				}
				level = most.children;
			}
			assert.ok(held >= 3, `${held} levels held against the tree`);
		},

		async flame_graph_leads_to_the_function_itself() {
			await page.go("view=flame");
			await page.page.focus(".flame-panel");
			await page.press("ArrowDown", "ArrowDown", "ArrowDown");
			const { line } = await frame();
			await page.press(" ");
			const at = new URLSearchParams(await page.hash());
			const word = at.get("function");
			assert.deepEqual([at.get("view"), line.startsWith(word.replace(/^[^ ]*!/, "")) || /!0x/.test(word)], ["callers", true], `${at} from ${line}`);
			const self = await page.page.textContent(".middle h2");
			assert.ok(line.startsWith("[") || line.startsWith(self), `${line} is not ${self}`);
		},

		async timeline_adds_up_to_what_reports_say() {
			await page.go("view=functions");
			const seen = await timeline();
			const bucket = seen[0].bucket ?? session.duration_ns / Math.max(60, Math.min(600, Math.ceil(session.duration_ns / 1e7)));
			const perNs = (upTo) => seen.filter(({ ns }) => ns < upTo).reduce((sum, { value }) => sum + value, 0) / bucket;
			const each = session.duration_ns / seen.length;
			const all = amountUntil(session.duration_ns);
			assert.ok(all > 0 && seen.length > 500, `${all} at ${seen.length} places`);
			for (const part of session.method === "sampling" ? [1, 0.5, 0.25] : [1]) {
				const [is, should] = [perNs(part * session.duration_ns) * each, amountUntil(part * session.duration_ns)];
				assert.ok(Math.abs(is - should) < 0.05 * all, `${is} until ${part} of the time, where reports have ${should}`);
			}
		},

		async butterfly_has_the_numbers_of_callers() {
			const { rows } = oracle.report("functions");
			for (const { function_name: name } of rows.filter((row) => !row.function_name.startsWith("[")).slice(0, 5)) {
				const all = oracle.report("callers", name).rows;
				await page.go(`view=callers&function=${encodeURIComponent(name)}`);
				const sides = await page.page.$$eval(".butterfly section", (sections) => sections.map((section) =>
					[...section.querySelectorAll("li")].map((row) => [
						row.querySelector(".words").dataset.tip.split("\n")[0], row.querySelector(".figure").textContent.replace(" %", "")])));
				for (const [side, type] of [[0, 1], [2, 2]]) {
					const expected = all.filter((row) => row.type === type);
					assert.equal(sides[side].length, expected.length, `rows of side ${side} of ${name}`);
					expected.forEach((row, i) => {
						assert.equal(sides[side][i][0], row.function_name, `row ${i} of side ${side} of ${name}`);
						assert.equal(wrong(sides[side][i][1], row[share]), "", `${row.function_name} beside ${name}`);
					});
				}
				const self = all.find((row) => row.type === 0);
				const middle = await page.page.$$eval(".middle dd", (cells) => cells.map((cell) => cell.textContent).join(" "));
				const percents = [...middle.matchAll(/([0-9.]+) %/g)].map((match) => match[1]);
				assert.ok(percents.some((text) => wrong(text, self[share]) === ""), `${middle} for ${self[share]} of ${name}`);
			}
		},

		async summary_has_the_shares_of_the_terminal() {
			await page.go("view=summary");
			const sections = new Map();
			let rows = [];
			for (const line of oracle.run("report", oracle.session, "--details").split("\n")) {
				const share = /^ +([0-9.]+) %(?! is| of)/.exec(line);
				if (share) rows.push(share[1]);
				else if (/^[A-Z]/.test(line)) sections.set(line.split(/:| \(/)[0], (rows = []));
			}
			const cards = await page.page.$$eval(".card", (all) => all.map((card) => [
				card.querySelector("h2").firstChild.textContent, [...card.querySelectorAll(".figure")].map((one) => one.textContent)]));
			let held = 0;
			for (const [title, figures] of cards) {
				const shares = figures.filter((text) => text.endsWith(" %")).map((text) => text.replace(" %", ""));
				if (!shares.length) continue;
				const expected = sections.get(title) ?? [];
				assert.equal(shares.length, expected.length, `shares of ${title}`);
				// The engine tells them in six digits, so the last of four may be rounded twice.
				shares.forEach((text, i) => assert.ok(Math.abs(text - expected[i]) < 0.011, `${text} for ${expected[i]} of ${title}`));
				held += shares.length;
			}
			assert.ok(held >= 5, `${held} shares held`);
		},
	};
}
