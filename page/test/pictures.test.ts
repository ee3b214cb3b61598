/* Layouts of the flame graph and the timeline, tables as CSV, notes by sections. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { toCsv } from "../src/csv.ts";
import { ancestors, boxAt, find, layOut, subtreeEnd } from "../src/flame-layout.ts";
import { factsInWords } from "../src/foot.ts";
import { sections } from "../src/panel-summary.ts";
import type { Flame, Note } from "../src/protocol.ts";
import { heading } from "../src/session.ts";
import { isInOrder, type Row } from "../src/source.ts";
import { isOneSpan, range, sums, threadsInWords, ticks } from "../src/timeline-layout.ts";

/** root(100) > a(60) > b(20), a2(30); c(30) > a(10) */
const graph: Flame = {
	names: ["root", "alpha", "beta", "gamma"],
	modules: ["m"],
	total: 100,
	cut_share: 0,
	nodes: {
		id: [1, 2, 3, 4, 5, 6],
		depth: [0, 1, 2, 2, 1, 2],
		start: [0, 0, 0, 20, 60, 60],
		value: [100, 60, 20, 30, 30, 10],
		self: [10, 10, 20, 30, 20, 10],
		blocked: [0, 0, 0, 0, 0, 0],
		name: [0, 1, 2, 1, 3, 1],
		module: [0, 0, 0, 0, 0, 0],
	},
};

test("subtrees and callers are found by depth", () => {
	assert.deepEqual([0, 1, 2, 4].map((i) => subtreeEnd(graph.nodes, i)), [6, 4, 3, 6]);
	assert.deepEqual(ancestors(graph.nodes, 3), [0, 1]);
	assert.deepEqual(ancestors(graph.nodes, 0), []);
});

test("boxes are as wide as their share", () => {
	const rows = layOut(graph, 0, undefined, 1000);
	assert.deepEqual(rows.map((row) => row.map(({ x, width }) => [x, width])), [[[0, 1000]], [[0, 600], [600, 300]], [[0, 200], [200, 300], [600, 100]]]);
	assert.equal(boxAt(rows, 2, 250)?.node, 3);
	assert.equal(boxAt(rows, 2, 550), undefined);
	assert.equal(boxAt(rows, 9, 0), undefined);
});

test("what is zoomed to fills the width below its callers", () => {
	const rows = layOut(graph, 2, undefined, 1000);
	assert.deepEqual(rows.map((row) => row.map(({ node, width, isAncestor }) => [node, Math.round(width), isAncestor])),
		[[[0, 1000, true]], [[1, 1000, false]], [[2, 333, false], [3, 500, false]]]);
});

test("what is too small for the whole graph has no callers, whichever they would be", () => {
	const detail: Flame = { ...graph, total: 5, nodes: { ...graph.nodes, id: [99], depth: [0], start: [0], value: [5] } };
	assert.deepEqual(layOut(graph, 99, undefined, 1000), []);
	assert.deepEqual(layOut(graph, 99, detail, 1000).map((row) => row.map(({ width, isAncestor }) => [width, isAncestor])), [[[1000, false]]]);
});

test("a root that is zoomed to has no callers and fills the width", () => {
	const forest: Flame = { ...graph, total: 40, nodes: { ...graph.nodes, id: [1, 2], depth: [0, 0], start: [0, 30], value: [30, 10], self: [30, 10], name: [0, 1] } };
	assert.deepEqual(layOut(forest, 1, undefined, 400).map((row) => row.map(({ node, width, isAncestor }) => [node, width, isAncestor])), [[[0, 400, false]]]);
});

test("boxes too narrow to be seen are left out", () => assert.equal(layOut(graph, 0, undefined, 9, 1)[2]!.length, 2));

test("several roots share the width", () => {
	const forest: Flame = { ...graph, total: 40, nodes: { ...graph.nodes, id: [1, 2], depth: [0, 0], start: [0, 30], value: [30, 10], self: [30, 10], name: [0, 1] } };
	assert.deepEqual(layOut(forest, 0, undefined, 400)[0]!.map(({ x, width }) => [x, width]), [[0, 300], [300, 100]]);
});

test("a name found within itself counts once", () => {
	assert.deepEqual(find(graph, "ALPHA"), { isName: [false, true, false, false], frames: 3, share: 0.7 });
	assert.equal(find(graph, "nothing").frames, 0);
});

test("the timeline adds up threads", () => {
	const thread = { id: 1, name: "t", process: 1 };
	const all = sums({ from: 0, until: 9, unit: "ns", threads_total: 2, threads: [{ ...thread, running: [1, 2], blocked: [3, 0] }, { ...thread, running: [4, 0], blocked: [0, 1] }] });
	assert.deepEqual(all, { running: [5, 2], blocked: [3, 1], runningMax: 5, blockedMax: 3 });
});

test("what is spread evenly is known to be", () => {
	const of = (...running: number[]) => isOneSpan({ running, blocked: running.map(() => 0), runningMax: Math.max(...running), blockedMax: 0 });
	assert.deepEqual([of(7, 7, 8, 7), of(7, 7, 9), of(0, 0)], [true, false, false]);
});

test("columns with and without callees are called by their measure", () => {
	const cases = [["Exclusive Samples", "Exclusive", "Samples Excl"], ["Elapsed Inclusive Time %", "EI %", "Elapsed Incl %"],
		["Application Exclusive Time At Most", "At Most", "App Excl At Most"], ["Inclusive CPU Time", "CPU Incl", "CPU Incl"],
		["Avg Elapsed Inclusive Time", "Avg Elapsed Inclusive Time", "Avg Elapsed Incl"], ["Wait Time %", "Wait %", "Wait %"]];
	for (const [title, header, is] of cases) assert.equal(heading({ title: title!, header: header! }), is);
});

test("rows are in an order where all siblings are", () => {
	const rows = (...numbers: [level: number, n: number][]) => ({
		total: numbers.length, max: [], onchange() {}, abandon() {}, some: () => Promise.resolve([]),
		row: (i: number): Row => ({ id: i, cells: [numbers[i]![1]], fn: 0, level: numbers[i]![0], hasChildren: true, isOpen: true }),
	});
	assert.ok(isInOrder(rows([0, 9], [1, 5], [1, 4], [0, 8], [1, 7]), 0, true));
	assert.ok(!isInOrder(rows([0, 9], [1, 5], [1, 6], [0, 8]), 0, true));
	assert.ok(isInOrder(rows([0, 1], [0, 1], [0, 2]), 0, false));
});

test("the timeline says of which threads it is", () => {
	const of = (told: number, all: number) => threadsInWords({
		from: 0, until: 9, unit: "ns", threads_total: all, threads: Array.from({ length: told }, (_, id) => ({ id, name: "", process: 1, running: [], blocked: [] })),
	});
	assert.equal(of(7, 7), "Threads");
	assert.equal(of(256, 1000), "Threads: the 256 with most of 1,000");
});

test("marks of time are round", () => {
	assert.deepEqual(ticks(0, 1e9, 500), [0, 2e8, 4e8, 6e8, 8e8, 1e9]);
	assert.deepEqual(ticks(5, 5, 500), []);
});

test("a range has its ends in order and within", () => {
	assert.deepEqual(range(90, -5, 0, 80, 1), [0, 80]);
	assert.equal(range(10, 10.4, 0, 80, 1), undefined);
});

test("CSV is quoted as RFC 4180 has it", () => {
	assert.equal(toCsv(["a", "b,c"], [["x\"y", 1.5], [null, "l\r\nm"]]), 'a,"b,c"\r\n"x""y",1.5\r\n,"l\r\nm"\r\n');
});

test("notes go into sections", () => {
	const note = (kind: Note["kind"], text: string): Note => ({ kind, text });
	const all = sections([note("says", "one"), note("heading", "Path"), note("path", ""), note("heading", "Empty")]);
	assert.deepEqual(all.map(({ heading, notes }) => [heading, notes.map((n) => n.text)]), [["", ["one"]], ["Path", [""]]]);
});

test("facts are told as far as they are known", () => {
	assert.deepEqual(factsInWords({ samples_reported: 900, samples_kept: 1164, samples_lost: 3, stacks_cut: 0 }), ["900 samples of 1,164", "3 lost"]);
	assert.deepEqual(factsInWords({}), []);
});
