/*
 * Looks at an exported page in a real browser, without any network: node test/browser.mjs DWELL SESSION PAGE
 * [TEST...]. Prints TAP. Numbers of tables are held against `dwell report --format json` of the same filter,
 * those of pictures by browser-pictures.mjs.
 */
import assert from "node:assert/strict";
import { pathToFileURL } from "node:url";
import { Oracle, wrong } from "./oracle.mjs";
import { Page, runTests } from "./page.mjs";
import { pictureTests } from "./browser-pictures.mjs";

const [dwell, session, file, ...wanted] = process.argv.slice(2);
const oracle = new Oracle(dwell, session);
const page = await Page.open(pathToFileURL(file).href);
const frequency = oracle.report("functions", "--top", "1").session.frequency_hz;
const LISTS = ["functions", "lines", "instructions", "processes", "threads", "waits", "slowest", "lifetime", "gc"];
const TREES = ["calltree", "modules", "allocations", "file-io"];

/** Compares the rows in sight with @rows of a report, in order. */
function compareRows({ columns, rows, total }, expected, what) {
	assert.equal(total, expected.length, `rows of ${what}`);
	assert.ok(rows.length > 0 || total === 0, `no row of ${what} in sight`);
	for (const row of rows) compareRow(columns, row, expected[row.at], what);
	return rows.length;
}

/** What the report's row has in column @id. Files have no processor times: these are so many samples. */
function valueOf(row, id) {
	const samples = row[id.replace("_cpu_time", "_samples")];
	return id.endsWith("_cpu_time") ? (samples * 1e9) / frequency : (row[id] ?? null);
}

function compareRow(columns, row, expected, what) {
	columns.forEach((id, i) => {
		const value = valueOf(expected, id);
		if (id === "source_text" && !row.cells[i]) return; // the page holds no sources of its own
		const shown = i === 0 ? row.name : row.cells[i];
		const problem = wrong(shown ?? "", typeof value === "string" ? value : i === 0 ? String(value ?? "") : value);
		assert.equal(problem, "", `${what}, row ${row.at}, ${id}`);
	});
}

/** Options that make a report have the columns and the order that the table in sight has. */
async function reportLike(view, ...options) {
	const table = await page.table();
	const source = table.columns.includes("source_text") ? ["--source"] : [];
	return { table, report: oracle.report(view, "--columns", table.columns.join(","), ...source, ...options) };
}

async function compareList(view, options, hash = "") {
	await page.go(`view=${view}&${hash}`);
	const { table, report } = await reportLike(view, ...options);
	return compareRows(table, report.rows, `${view} ${hash}`);
}

/** Compares an open tree with a report's rows, each by its path of names. */
async function compareTree(view, options, hash = "") {
	await page.go(`view=${view}&${hash}`);
	const table = await page.table();
	const whole = ["calltree", "allocations"].includes(view) ? ["--no-fold", "--trim", "0"] : ["--no-fold"];
	const { rows } = oracle.report(view, ...whole, "--columns", ["level", ...table.columns].join(","), ...options);
	const name = table.columns[0];
	const byPath = new Map();
	const path = [];
	for (const row of rows) {
		path.length = row.level;
		path.push(row[name]);
		const key = path.join("\n");
		byPath.set(key, [...(byPath.get(key) ?? []), row]);
	}
	path.length = 0;
	let compared = 0;
	for (const row of table.rows) {
		if (row.level > path.length) break; // its callers are scrolled out of sight
		path.length = row.level;
		path.push(row.name);
		const expected = byPath.get(path.join("\n"));
		assert.ok(expected, `${view}: no row for ${path.join(" > ")}`);
		// Functions of several modules may have one name.
		const [only] = expected.filter((one) => table.columns.every((id, i) => i === 0 || !wrong(row.cells[i], valueOf(one, id))));
		compareRow(table.columns, row, only ?? expected[0], view);
		compared++;
	}
	assert.ok(compared > 0 || (!rows.length && !table.total), `nothing of ${view} compared`);
	return compared;
}

/** Filters of this session that leave something: as hashes, and as a report's options. */
function filters() {
	const { session } = oracle.report("functions", "--top", "1");
	const [thread] = oracle.report("threads").rows;
	const [module] = oracle.report("modules").rows.filter((row) => row.level === 0 && row.name !== "[threads]");
	const half = Math.round(session.duration_ns / 2);
	const whole = session.method === "memory" ? [] : [["waits=all", ["--waits", "all"]]];
	return [
		...whole,
		["just_my_code=1", ["--just-my-code=callee"]],
		[`until=${half}`, ["--until", `${half}ns`]],
		[`process=${oracle.report("processes").rows[0].id}`, ["--process", String(oracle.report("processes").rows[0].id)]],
		[`thread=${thread.id}`, ["--thread", String(thread.id)]],
		[`module=${encodeURIComponent(module.name)}`, ["--module", module.name.replaceAll("[", "[[]")]],
		[`from=${half}`, ["--from", `${half}ns`]],
	];
}

const tests = {
	...pictureTests(page, oracle),

	async views_show_what_reports_say() {
		await page.go("");
		const tabs = await page.tabs();
		assert.ok(tabs.includes("functions") && tabs.includes("calltree"), String(tabs));
		let rows = 0;
		for (const view of tabs.filter((name) => LISTS.includes(name))) rows += await compareList(view, []);
		for (const view of tabs.filter((name) => TREES.includes(name))) rows += await compareTree(view, []);
		assert.ok(rows > 30, `${rows} rows compared`);
	},

	async summary_leads_to_functions() {
		await page.go("view=summary");
		const lists = await page.page.$$eval(".card", (cards) => cards.map((card) => ({
			title: card.querySelector("h2").firstChild.textContent,
			rows: [...card.querySelectorAll(".ranked li")].map((row) => [
				row.querySelector(".words").dataset.tip?.split("\n")[0], parseFloat(row.querySelector(".figure").textContent)]),
		})));
		const path = lists.find((list) => list.title === "Hot path");
		// Calls are shown as they were measured, all else as the terminal shows it.
		const { session, rows } = oracle.report("summary");
		const folded = session.method === "instrumentation" ? rows : oracle.report("summary", "--just-my-code=callee").rows;
		const expected = folded.filter((row) => row.section === "Hot Path");
		assert.ok(path.rows.length > 0 && path.rows.every(([name]) => expected.some((row) => row.name === name)), JSON.stringify(path.rows));
		const functions = lists.find((list) => list.title.startsWith("Functions "));
		const most = folded.filter((row) => /^Functions /.test(row.section));
		assert.ok(functions.rows.every(([name]) => most.some((row) => row.name === name)), JSON.stringify(functions.rows));
		await page.page.click(".card .link");
		await page.settle();
		assert.match(await page.hash(), /view=callers&function=/);
	},

	async inverted_trees_begin_at_functions() {
		await compareList("functions", []);
		const { rows } = oracle.report("functions");
		await page.go("view=calltree&inverted=1");
		const { columns, rows: shown } = await page.table();
		const share = columns.findIndex((id) => id.includes("inclusive") && id.endsWith("_percent"));
		const first = shown.find((row) => row.level === 1);
		const same = rows.filter((row) => row.function_name === first.name);
		const own = columns[share].replace("inclusive", "exclusive");
		assert.ok(same.some((row) => wrong(first.cells[share], row[own]) === ""), `${first.name}: ${first.cells[share]}`);
		await page.go("view=flame&inverted=1");
		assert.match(await page.text(".flame-line"), /: \d/);
		await page.press("i");
		assert.doesNotMatch(await page.hash(), /inverted/);
	},

	async lifetime_is_a_picture() {
		await page.go("view=lifetime");
		const { rows } = oracle.report("lifetime");
		const fates = {
			gen_0_instances_collected: "died in generation 0", gen_1_instances_collected: "died in generation 1",
			gen_2_instances_collected: "died in generation 2", large_object_heap_instances_collected: "died in the large object heap",
			pinned_object_heap_instances_collected: "died in the pinned object heap", instances_alive_at_end: "alive at the end",
		};
		for (const row of (await page.table()).rows) {
			const words = Object.entries(fates).filter(([id]) => rows[row.at][id]).map(([id, what]) => `${rows[row.at][id]} ${what}`);
			assert.equal(row.fate, words.join(", "), row.name);
		}
	},

	async filters_are_those_of_reports() {
		const all = JSON.stringify(oracle.report("functions").rows);
		let others = 0;
		for (const [hash, options] of filters()) {
			await compareList("functions", options, hash);
			assert.equal((await page.page.$$(".chip")).length, 1, `one chip for ${hash}`);
			others += JSON.stringify(oracle.report("functions", ...options).rows) !== all;
		}
		assert.ok(others >= 2, `${others} filters leave something out`);
		const root = oracle.report("calltree", "--no-fold").rows.find((row) => row.level === 2 && !row.function_name.startsWith("["));
		await compareTree("calltree", ["--root", root.function_name], `root=${encodeURIComponent(root.function_name)}`);
		for (const [view, option, id] of [["processes", "--process", "id"], ["threads", "--thread", "id"], ["modules", "--module", "name"]]) {
			const rows = oracle.report(view).rows.filter((one) => view !== "modules" || (one.level === 0 && !one.name.startsWith("[")));
			await page.go(`view=${view}`);
			await page.page.click(`.name-text >> text="${rows[0].name}" >> nth=0`);
			await page.press("1", String((await page.tabs()).indexOf("functions") + 1));
			const { table, report } = await reportLike("functions", option, String(rows[0][id]));
			compareRows(table, report.rows, `functions of a row of ${view}`);
		}
	},

	async errors_leave_no_old_numbers() {
		const ops = ["summary", "rows", "tree", "flame", "annotate", "timeline"];
		const [hash] = filters().find(([one]) => one.startsWith("process="));
		const { rows } = oracle.report("functions");
		const fn = `function=${encodeURIComponent(rows.find((row) => !row.function_name.startsWith("[")).function_name)}`;
		const seen = () => page.page.evaluate(() => [...document.querySelectorAll("main > *, .timeline")].map((place) => [
			place.querySelector(".problem")?.checkVisibility() ?? false,
			[...place.querySelectorAll(".grid-row, li, p:not(.problem), canvas, dd")].some((part) => part.checkVisibility())]));
		for (const state of (await page.tabs()).map((view) => `view=${view}`).concat(`view=callers&${fn}`, `view=lines&${fn}`)) {
			await page.go(state);
			assert.deepEqual((await seen()).map(([problem]) => problem), [false, false], state);
			const facts = await page.text("footer .facts");
			await page.tamper(ops);
			await page.turn(`${state}&${hash}`);
			assert.deepEqual(await seen(), [[true, false], [true, false]], `${state} after errors`);
			assert.equal(await page.text("footer .facts"), "", state);
			await page.tamper([]);
			await page.turn(state);
			assert.deepEqual((await seen()).map(([problem]) => problem), [false, false], `${state} again`);
			assert.equal(await page.text("footer .facts"), facts);
		}
	},

	async old_numbers_are_seen_to_be_old() {
		await page.go("view=functions");
		const half = `from=${Math.round(oracle.report("functions", "--top", "1").session.duration_ns / 2)}`;
		await page.tamper([], ["rows"]);
		await page.page.evaluate((to) => (location.hash = to), `view=functions&${half}`);
		await page.page.waitForSelector(".table-panel[aria-busy] .grid-row");
		// Meanwhile somebody takes the filter back: the answer to it is not shown any more.
		await page.page.evaluate(() => (location.hash = "view=functions&sort=function_name"));
		await page.page.evaluate(() => window.engine.letGo());
		await page.settle();
		const table = await page.table();
		const { rows } = oracle.report("functions", "--sort", "function_name", "--columns", table.columns.join(","));
		compareRows(table, rows, "functions by name");
		assert.equal(await page.page.$("[aria-busy]"), null);
	},

	async sorts_by_any_column() {
		await page.go("view=functions");
		const { columns } = await page.table();
		for (const id of columns.slice(0, 4)) {
			await page.click(`.grid-head [data-column="${id}"]`);
			const sorted = await page.page.getAttribute(`.grid-head [data-column="${id}"]`, "aria-sort");
			assert.notEqual(sorted, "none", id);
			const sort = new URLSearchParams(await page.hash()).get("sort");
			const { table, report } = await reportLike("functions", "--sort", id);
			assert.equal(wrong(table.rows[0].cells[columns.indexOf(id)], valueOf(report.rows[0], id)), "", `${id} sorted as ${sort}`);
			await page.click(`.grid-head [data-column="${id}"]`);
			const turned = oracle.report("functions", "--sort", `-${id}`, "--columns", columns.join(","));
			const again = await page.table();
			assert.equal(wrong(again.rows[0].cells[columns.indexOf(id)], valueOf(turned.rows[0], id)), "", `${id} turned round`);
		}
	},

	async searches() {
		await page.go("view=functions");
		const { rows } = oracle.report("functions");
		const word = rows[0].function_name.slice(0, 4);
		await page.search(word);
		const found = rows.filter((row) => Object.values(row).some((v) => typeof v === "string" && v.toLowerCase().includes(word.toLowerCase())));
		const table = await page.table();
		assert.equal(table.total, found.length, `rows that have "${word}"`);
		assert.ok((await page.page.$$(".grid mark")).length > 0, "nothing is marked");
		assert.equal(new URLSearchParams(await page.hash()).get("search"), word);
	},

	async searches_within_a_function() {
		const { rows } = oracle.report("instructions");
		const { function_name: name } = rows.find((row) => !row.function_name.startsWith("["));
		await page.go(`view=instructions&function=${encodeURIComponent(name)}`);
		const { total } = await page.table();
		const [word] = (await page.table()).rows[0].name.split(" ");
		await page.search(word);
		assert.match(await page.text("footer .message"), new RegExp(`^[1-9][0-9,]* of ${total.toLocaleString("en")} rows have "${word}"`));
		assert.ok((await page.page.$$(".code mark")).length > 0, "nothing is marked");
		// What was typed stays, however soon Enter follows.
		await page.page.fill("header input[type=search]", "typed");
		await page.press("Enter");
		assert.equal(await page.page.inputValue("header input[type=search]"), "typed");
		assert.equal(new URLSearchParams(await page.hash()).get("search"), "typed");
	},

	async sheets_stay_open_and_views_as_they_were() {
		await page.go("view=functions");
		const focused = () => page.page.evaluate(() => document.activeElement.closest("label")?.textContent);
		await page.page.getByRole("button", { name: "Columns" }).click();
		const boxes = await page.page.$$(".sheet:not([hidden]) label");
		const label = await boxes[2].textContent();
		await boxes[1].click();
		await boxes[2].click();
		await page.settle();
		assert.ok(await page.page.isVisible(".tools .sheet"), "the sheet of columns stays");
		assert.equal(await focused(), label);
		await page.press("Escape", "f");
		const module = await page.page.$(".filters fieldset:last-of-type .choices label");
		await module.click();
		await page.settle();
		assert.ok(await page.page.isVisible(".chips .sheet"), "the filter's sheet stays");
		assert.equal(await focused(), await module.textContent());
		await module.click();
		await page.press("Escape");
		await page.click("#tab-functions");
		const top = () => page.page.evaluate(() => [...document.querySelectorAll("main .grid")].find((one) => one.offsetParent).scrollTop);
		await page.page.setViewportSize({ width: 1600, height: 320 });
		await page.page.focus(".grid");
		await page.press("End");
		const scrolled = await top();
		assert.ok(scrolled > 0, "there is something to scroll");
		await page.click("#tab-summary");
		await page.click("#tab-functions");
		assert.equal(await top(), scrolled);
		await page.page.setViewportSize({ width: 1600, height: 900 });
	},

	async butterfly_recentres() {
		const { rows } = oracle.report("functions");
		// One that something with a name calls.
		const callersOf = (name) => oracle.report("callers", name).rows.filter((row) => row.type === 1).map((row) => row.function_name);
		const isOther = (name, of) => !name.startsWith("[") && name !== of;
		const top = rows.slice(0, 25).find(({ function_name: name }) => !name.startsWith("[") && callersOf(name).some((other) => isOther(other, name)));
		assert.ok(top, "no function with a caller");
		await page.go(`view=functions`);
		await page.click(`.grid-row[data-row="${rows.indexOf(top)}"] .name-text`);
		assert.equal(new URLSearchParams(await page.hash()).get("function"), top.function_name);
		const callers = callersOf(top.function_name);
		const shown = await page.page.$$eval(".butterfly section:nth-child(1) .words", (all) => all.map((one) => one.dataset.tip.split("\n")[0]));
		assert.deepEqual([...shown].sort(), [...callers].sort(), "callers");
		const to = callers.find((name) => isOther(name, top.function_name));
		await page.page.click(`.butterfly section:nth-child(1) .words[data-tip^="${to}"] button`);
		await page.settle();
		assert.equal(await page.page.getAttribute(".middle h2", "data-tip"), to);
		await page.page.goBack();
		await page.settle();
		assert.equal(await page.page.getAttribute(".middle h2", "data-tip"), top.function_name);
		// What is suggested is what the tools are about.
		await page.go("view=callers");
		const suggested = await page.page.getAttribute(".middle h2", "data-tip");
		await page.page.getByRole("button", { name: "Lines" }).click();
		assert.equal(new URLSearchParams(await page.hash()).get("function"), suggested);
	},

	async flame_graph_zooms_and_finds() {
		await page.go("view=flame");
		await page.page.focus(".flame-panel");
		await page.press("ArrowDown", "ArrowDown", "ArrowDown");
		const line = await page.text(".flame-line");
		const share = /([0-9.]+) % of all/.exec(line);
		assert.ok(share, line);
		await page.press("Enter");
		assert.match(await page.hash(), /zoom=\d+/);
		assert.match(await page.text(".flame-line"), /zoomed to/);
		const link = await page.hash();
		await page.press("0");
		assert.doesNotMatch(await page.hash(), /zoom=/);
		await page.page.goBack();
		await page.settle();
		assert.equal(await page.hash(), link);
		await page.search(line.split(" · ")[0].slice(0, 6));
		assert.match(await page.text(".flame-line"), /[1-9]\d* frames found/);
	},

	async range_is_dragged_and_undone() {
		await page.go("view=functions");
		const before = (await page.table()).total;
		const box = await (await page.page.$(".timeline canvas")).boundingBox();
		await page.page.mouse.move(box.x + box.width * 0.3, box.y + 20);
		await page.page.mouse.down();
		await page.page.mouse.move(box.x + box.width * 0.6, box.y + 20, { steps: 4 });
		await page.page.mouse.up();
		await page.settle();
		const at = new URLSearchParams(await page.hash());
		assert.ok(Number(at.get("from")) > 0 && Number(at.get("until")) > Number(at.get("from")), String(at));
		const { table, report } = await reportLike("functions", "--from", `${at.get("from")}ns`, "--until", `${at.get("until")}ns`);
		compareRows(table, report.rows, "the range");
		await page.page.goBack();
		await page.settle();
		assert.equal((await page.table()).total, before);
		await page.page.goForward();
		await page.settle();
		assert.equal((await page.table()).total, report.rows.length);
		await page.click(".chip button");
		assert.equal((await page.table()).total, before);
	},

	async links_restore() {
		for (const [hash] of filters()) {
			await page.go(`view=functions&${hash}&sort=function_name&columns=function_name,module_name&search=a`);
			const [link, table] = [await page.hash(), await page.table()];
			const [name, value] = hash.split("=");
			assert.equal(new URLSearchParams(link).get(name), decodeURIComponent(value));
			assert.deepEqual(table.columns, ["function_name", "module_name"]);
			await page.go(link);
			assert.deepEqual(await page.table(), table);
			assert.equal(await page.page.inputValue("header input[type=search]"), "a");
		}
	},

	async keys_do_everything() {
		await page.go("view=summary");
		await page.press("?");
		assert.ok(await page.page.isVisible("dialog"));
		await page.press("Escape");
		assert.ok(!(await page.page.isVisible("dialog")));
		const tabs = await page.tabs();
		await page.press(String(tabs.indexOf("calltree") + 1));
		assert.match(await page.hash(), /view=calltree/);
		const open = async () => (await page.table()).total;
		await page.press("c");
		const closed = await open();
		await page.press("ArrowRight");
		assert.ok((await open()) > closed, "ArrowRight opens");
		await page.press("ArrowLeft");
		assert.equal(await open(), closed, "ArrowLeft closes");
		await page.press("h");
		assert.ok((await open()) > closed, "h opens the hot path");
		await page.press("ArrowDown", "d");
		assert.ok(await page.page.isVisible(".details dl"));
		await page.press(String(tabs.indexOf("functions") + 1), "s");
		const sort = () => new URLSearchParams(location.hash).get("sort");
		const sorted = await page.page.evaluate(sort);
		assert.ok(sorted, "s sorts");
		await page.press("r");
		assert.equal(await page.page.evaluate(sort), sorted.startsWith("-") ? sorted.slice(1) : `-${sorted}`, "r turns round");
		await page.press("/");
		assert.equal(await page.page.evaluate(() => document.activeElement.type), "search");
		await page.press("Escape", "]");
		assert.match(await page.hash(), new RegExp(`view=${tabs[tabs.indexOf("functions") + 1]}`));
	},

	async csv_is_what_the_table_shows() {
		await page.go("view=functions");
		await page.page.getByRole("button", { name: "Copy CSV" }).click();
		await page.settle();
		const text = await page.page.evaluate(() => navigator.clipboard.readText());
		const fields = /"((?:[^"]|"")*)"|([^,\r\n]*)/.source;
		const lines = text.trimEnd().split("\r\n").map((line) => [...line.matchAll(new RegExp(`(?:^|,)(?:${fields})`, "g"))]
			.map(([, quoted, plain]) => quoted?.replaceAll('""', '"') ?? plain));
		const { table: { columns }, report: { rows } } = await reportLike("functions");
		assert.equal(lines.length, rows.length + 1);
		rows.forEach((row, i) => columns.forEach((id, k) => {
			const [is, should] = [lines[i + 1][k], valueOf(row, id)];
			if (typeof should === "number") assert.ok(is !== "" && Math.abs(Number(is) - should) <= 1e-9 * Math.abs(should), `${id} of row ${i}: ${is}, not ${should}`);
			else assert.equal(is, should ?? "", `${id} of row ${i}`);
		}));
		assert.match(await page.text("footer .message"), new RegExp(`^${rows.length.toLocaleString("en")} rows were copied`));
		await page.page.evaluate(() => {
			navigator.clipboard.writeText = () => Promise.reject(new Error("no"));
			document.execCommand = () => false;
		});
		await page.page.getByRole("button", { name: "Copy CSV" }).click();
		await page.settle();
		assert.match(await page.text("footer .message"), /^Nothing was copied/);
	},

	async names_are_text() {
		const names = oracle.report("functions").rows.map((row) => row.function_name);
		assert.ok(names.some((name) => name.includes("<script>")) && names.some((name) => name.length > 9000), "hostile names");
		await page.go("");
		const title = await page.page.title();
		for (const view of await page.tabs()) {
			await page.go(`view=${view}`);
			await page.press("ArrowDown", "d");
			const [scripts, images, shown] = await page.page.evaluate(() => [
				document.querySelectorAll("main script, main img").length, document.images.length, document.body.innerText,
			]);
			assert.deepEqual([scripts, images, await page.page.title()], [0, 0, title], view);
			assert.doesNotMatch(shown, /[\u202e\u0007\u001b]/, `controls in ${view}`);
		}
		await page.go("view=functions");
		const text = await page.page.evaluate(() => document.querySelector("main").innerText);
		assert.match(text, /<img src=x onerror/);
		assert.match(text, /safe\\u202egnp\.exe/);
		const wide = await page.page.evaluate(() => document.documentElement.scrollWidth <= innerWidth);
		assert.ok(wide, "the page is as wide as its window");
	},

	async same_names_are_apart() {
		const { rows } = oracle.report("functions");
		const twins = rows.filter((row) => row.function_name === "twin");
		assert.equal(twins.length, 2);
		for (const twin of twins) {
			const at = rows.indexOf(twin);
			const choose = async (label) => {
				await page.go("view=functions");
				await page.press("d");
				await page.page.focus(".grid");
				await page.press("Home", ...Array(at).fill("ArrowDown"));
				await page.page.click(`.details button:text-is("${label}")`);
				await page.page.waitForFunction((label) => location.hash.includes(label), label === "Callers" ? "function=" : "root=");
				await page.settle();
			};
			const word = `names!${twin.function_address}`;
			await choose("Callers");
			assert.equal(new URLSearchParams(await page.hash()).get("function"), word);
			const shown = await page.page.$$eval(".middle dd", (all) => all.map((one) => one.textContent));
			assert.ok(shown.some((text) => text.split(" · ")[0] === String(twin.inclusive_samples)), `${shown} of ${JSON.stringify(twin)}`);
			await page.click('.tools button:text-is("Set as root")');
			await page.page.waitForFunction(() => location.hash.includes("root="));
			await page.settle();
			assert.equal(new URLSearchParams(await page.hash()).get("root"), word);
			await choose("Set as root");
			assert.equal(new URLSearchParams(await page.hash()).get("root"), word);
			await page.turn(`${await page.hash()}&view=calltree`.replace("view=functions&", ""));
			const table = await page.table();
			const [root] = oracle.report("calltree", "--root", word, "--trim", "0", "--no-fold").rows;
			assert.equal(wrong(table.rows[0].cells[table.columns.indexOf("inclusive_samples")] ?? "", root.inclusive_samples), "");
			assert.equal(root.inclusive_samples, twin.inclusive_samples);
		}
	},

	async chips_take_ticks_back() {
		await page.go("view=functions");
		await page.press("f");
		const tick = async (label) => (await page.page.isChecked(`.filters label:has-text("${label}") input`));
		await page.click('.filters label:has-text("Just my code")');
		await page.click(".filters fieldset:last-of-type .choices label");
		assert.deepEqual([await tick("Just my code"), await page.page.isChecked(".filters fieldset:last-of-type .choices input")], [true, true]);
		await page.page.evaluate(() => document.querySelectorAll(".chip button").forEach((one) => one.dispatchEvent(new MouseEvent("click"))));
		await page.settle();
		assert.ok(await page.page.isVisible(".chips .sheet"), "the sheet is open");
		assert.deepEqual([await tick("Just my code"), await page.page.isChecked(".filters fieldset:last-of-type .choices input")], [false, false]);
		assert.equal(new URLSearchParams(await page.hash()).get("module"), null);
	},

	async marks_are_of_what_is_seen() {
		// A table that has no answer, and is no longer looked at, takes no mark of another one's away.
		await page.go("view=threads");
		const picture = () => page.page.evaluate(() => document.querySelector(".timeline canvas").toDataURL());
		const marked = await picture();
		await page.turn("view=functions");
		const plain = await picture();
		await page.tamper(["rows"], ["rows"]);
		await page.page.evaluate(() => (location.hash = "view=slowest"));
		await page.page.waitForTimeout(100);
		await page.page.evaluate(() => (location.hash = "view=threads"));
		await page.tamper([], []);
		await page.page.evaluate(() => window.engine.letGo());
		await page.settle();
		assert.ok(marked !== plain, "a mark of the row at hand");
		assert.ok((await picture()) === marked, "the mark is gone");
	},

	async latency_is_what_reports_say() {
		const chosen = "inclusive_latency,inclusive_latency_percent,exclusive_latency,exclusive_latency_percent,inclusive_samples";
		for (const view of ["functions", "modules", "threads"]) {
			const compare = LISTS.includes(view) ? compareList : compareTree;
			assert.ok((await compare(view, [], `columns=${chosen}`)) > 0, view);
		}
		assert.ok((await compareList("functions", ["--sort", "-exclusive_latency"], `columns=${chosen}&sort=exclusive_latency`)) > 0);
		assert.ok((await compareTree("calltree", [], `columns=${chosen}`)) > 3);
		await page.go("view=flame&width=inclusive_latency");
		const { rows } = oracle.report("calltree", "--columns", "level,inclusive_latency", "--no-fold", "--trim", "0");
		const all = rows.filter(({ level }) => level === 0).reduce((sum, row) => sum + row.inclusive_latency, 0);
		assert.ok(all > 0);
		const [, shown] = /^Inclusive Latency: ([\d.]+) ms/.exec((await page.text(".flame-line")).replaceAll("\u00a0", " ")) ?? [];
		assert.ok(Math.abs(Number(shown) * 1e6 - all) < 0.01 * all, `${shown} for ${all}`);
	},

	async fetches_nothing() {
		assert.deepEqual(page.requests, []);
		assert.deepEqual(page.errors, []);
	},
};

const usual = Object.keys(tests).filter((name) => !["names_are_text", "lifetime_is_a_picture", "latency_is_what_reports_say", "same_names_are_apart"].includes(name));
const names = wanted.length ? Object.keys(tests).filter((name) => wanted.includes(name)) : usual;
await runTests(tests, names, page);
