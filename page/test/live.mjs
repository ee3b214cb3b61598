/*
 * Looks at a recording that goes on, in a real browser: node test/live.mjs DWELL SESSION URL HOW PID SERVER. It changes by
 * itself, nothing that somebody has chosen is lost by that; then process PID is ended, HOW says by what, and in the end
 * the page is that of the finished session, also without its server. Prints TAP.
 */
import assert from "node:assert/strict";
import { setTimeout as sleep } from "node:timers/promises";
import { Oracle, wrong } from "./oracle.mjs";
import { Page, runTests } from "./page.mjs";

const [dwell, session, url, how, pid, server] = process.argv.slice(2);
const oracle = new Oracle(dwell, session);
const page = await Page.open(url, { offline: false, viewport: { width: 1400, height: 300 } });
const MEASURED = { calls: /([\d,]+) calls/, samples: /([\d,]+) samples/ };

async function until(what, test) {
	for (let tries = 0; tries < 300; tries++) {
		if (await test()) return;
		await sleep(100);
	}
	const seen = await page.page.evaluate(() => document.body.innerText);
	assert.fail(`${what} did not come: ${seen.slice(0, 3000)}`);
}

const news = async () => (await page.page.isHidden(".news") ? "" : page.text(".news"));

/** What was measured by now, as the foot says. */
async function measured() {
	const facts = await page.text(".facts");
	const found = MEASURED.samples.exec(facts) ?? MEASURED.calls.exec(facts);
	return found ? Number(found[1].replaceAll(",", "")) : 0;
}

/** All has changed by itself. */
async function changes(times = 1) {
	for (let i = 0; i < times; i++) {
		const before = await measured();
		await until(`more than ${before}`, async () => (await measured()) > before);
	}
	await page.settle();
}

/** The row at hand, and what is seen of the table besides. */
function look() {
	return page.page.evaluate(() => {
		const grid = [...document.querySelectorAll("main .grid")].find((one) => one.offsetParent);
		const current = grid.querySelector(".grid-row.current");
		const rows = [...grid.querySelectorAll(".grid-row")].sort((a, b) => a.dataset.row - b.dataset.row);
		return {
			hash: location.hash, scrolled: grid.scrollTop, name: current?.querySelector(".name-text").dataset.tip.split("\n")[0],
			open: rows.filter((row) => row.getAttribute("aria-expanded") === "true").map((row) => row.querySelector(".name-text").textContent),
			details: document.querySelector("main aside.details:not([hidden]) h2")?.textContent,
		};
	});
}

const looks = (list) => list.filter((address) => address === `${url}look`).length;

const tests = {
	async says_that_it_is_live() {
		await page.go("view=functions");
		assert.match(await news(), /^live since \d/);
		await changes(2);
		assert.ok(page.requests.every((address) => address.startsWith(url)), String(page.requests));
	},

	async functions_stay_as_they_were() {
		await page.go("view=functions&sort=function_name&module=truth-gcc-O2");
		await page.press("d");
		const names = () => page.page.$$eval("main .grid-row .name-text", (all) => all.map((one) => one.textContent));
		const at = (await names()).indexOf("beta");
		assert.ok(at >= 0, String(await names()));
		await page.page.focus("main .grid");
		await page.press("Home", ...Array(at).fill("ArrowDown"));
		const before = await look();
		assert.deepEqual([before.name, before.details], ["beta", "beta"]);
		await changes(2);
		assert.deepEqual(await look(), before);
	},

	async trees_stay_open() {
		await page.go("view=calltree");
		await page.press("*", "End");
		const before = await look();
		assert.ok(before.open.length > 1 && before.scrolled > 0, JSON.stringify(before));
		await changes();
		assert.deepEqual(await look(), before);
	},

	async a_range_is_of_the_same_reading() {
		await page.go("view=functions&until=500000000");
		const rows = (await page.table()).rows.map(({ cells }) => cells);
		assert.ok(rows.length > 0 && (await page.text(".chips")).includes("500"), String(rows));
		const before = page.requests.length;
		await until("more looks", async () => looks(page.requests.slice(before)) > 2);
		await page.settle();
		assert.deepEqual((await page.table()).rows.map(({ cells }) => cells), rows, "what is over does not change");
	},

	async the_flame_graph_stays_zoomed() {
		await page.go("view=flame");
		await page.page.focus(".flame-panel");
		await page.press("ArrowDown", "ArrowDown", "Enter");
		const zoomed = async () => [/zoomed to/.test(await page.text(".flame-line")), /zoom=\d+/.test(await page.hash())];
		assert.deepEqual(await zoomed(), [true, true], await page.text(".flame-line"));
		await changes();
		assert.deepEqual(await zoomed(), [true, true], await page.text(".flame-line"));
	},

	async nobody_looks_while_it_is_hidden() {
		const hide = (hidden) => page.page.evaluate((is) => {
			Object.defineProperty(document, "hidden", { value: is, configurable: true });
			document.dispatchEvent(new Event("visibilitychange"));
		}, hidden);
		await page.go("view=summary");
		await changes();
		await hide(true);
		await sleep(1500); // one may be on its way
		const before = page.requests.length;
		await sleep(2500);
		assert.deepEqual(page.requests.slice(before), []);
		await hide(false);
		await changes();
	},

	async slow_answers_do_not_queue() {
		let open = 0;
		let most = 0;
		const slowly = async (route) => {
			most = Math.max(most, ++open);
			await sleep(700);
			open--;
			await route.continue();
		};
		await page.page.route("**/*", slowly);
		const before = page.requests.length;
		await sleep(4000);
		await page.page.unrouteAll({ behavior: "wait" });
		const asked = page.requests.slice(before);
		assert.ok(asked.length > 2 && asked.length < 7, String(asked.length));
		assert.equal(most, 1, "requests at a time");
		await changes();
	},

	async becomes_the_finished_session() {
		await page.go("view=calltree");
		await page.press("*", "End");
		await changes();
		const before = await look();
		process.kill(Number(pid), how === "killed" ? "SIGKILL" : how === "target" ? "SIGTERM" : "SIGINT");
		if (how === "killed") {
			await until("that it was left", async () => /left unfinished.*"dwell recover run\.dwell\.partial"/.test(await news()));
			assert.ok((await measured()) > 0);
			oracle.run("recover", `${session}.partial`);
		}
		await until("the finished session", async () => (await news()) === "");
		await page.settle();
		// Debug information knows some functions by other names.
		assert.deepEqual((await look()).open.map((name) => name.replace(/_impl$/, "")), before.open);
		assert.equal((await look()).hash, before.hash);
		assert.ok((await page.tabs()).includes("lines"), "lines are known now");
		// Nobody needs the server any more.
		process.kill(Number(server), "SIGINT");
		await sleep(300);
		const asked = page.requests.length;
		for (const view of ["functions", "lines"]) {
			await page.turn(`view=${view}`);
			const { columns, rows, total } = await page.table();
			const source = columns.includes("source_text") ? ["--source"] : [];
			const report = oracle.report(view, "--columns", columns.join(","), ...source).rows;
			assert.equal(total, report.length, view);
			assert.ok(rows.length > 3, view);
			for (const row of rows)
				columns.forEach((id, i) => {
					if (i === 0 || id.endsWith("_cpu_time") || id === "source_text") return;
					assert.equal(wrong(row.cells[i] ?? "", report[row.at][id] ?? null), "", `${view}, row ${row.at}, ${id}`);
				});
		}
		assert.equal(await measured(), measuredBy(oracle.report("functions", "--top", "1").session));
		assert.equal(page.requests.length, asked, "requests without the server");
		assert.deepEqual(page.errors, []);
	},
};

function measuredBy({ samples_kept: samples, number_of_calls: calls }) {
	return samples ?? calls;
}

const wanted = process.argv.slice(8);
const names = Object.keys(tests).filter((name) => !wanted.length || wanted.includes(name));
await runTests(tests, names, page);
