/* The state: how it changes, and that a link restores it. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { fromHash, toHash } from "../src/link.ts";
import { initialState, isStep, update, type Action, type State } from "../src/state.ts";

const fresh = initialState("summary", "inclusive_samples");
const VIEWS = ["summary", "flame", "functions", "callers"];

function after(...actions: Action[]): State {
	return actions.reduce(update, fresh);
}

function back(state: State): State {
	return fromHash(toHash(state, fresh), fresh, fresh, VIEWS);
}

test("a link restores everything", () => {
	const state = after(
		{ type: "view", view: "callers", fn: "a<b>&c=d #1" },
		{ type: "filter", set: { process: [1, 2], thread: [3], module: ["libc.so.6", "[kernel]"], from: 5, until: 1e12 } },
		{ type: "filter", set: { just_my_code: true, root: "x y<é>", waits: "all" } },
		{ type: "search", text: "größe + 1" },
		{ type: "invert" },
		{ type: "flame", set: { color: "system", up: true, order: "name", measure: "inclusive_blocked_time" } },
		{ type: "zoom", node: 77 },
		{ type: "threads" },
		{ type: "sort", view: "callers", sort: { column: "inclusive_samples", descending: true } },
		{ type: "columns", view: "callers", columns: ["function_name", "inclusive_samples"] },
	);
	assert.deepEqual(back(state), state);
});

test("a fresh page has a short link", () => assert.equal(toHash(fresh, fresh), "view=summary"));

test("a bad link is a fresh page", () => {
	for (const hash of ["", "#", "view=nothing", "process=a,b&from=-1&until=1e99&color=red&zoom=x&order=1", "%%%", "sort"]) {
		const state = fromHash(hash, fresh, fresh, VIEWS);
		assert.deepEqual({ ...state, tables: {} }, { ...fresh, tables: {} }, hash);
	}
});

test("filters come and go", () => {
	const state = after({ type: "filter", set: { process: [1], from: 0, until: 9 } });
	assert.deepEqual(state.filter, { process: [1], from: 0, until: 9 });
	assert.deepEqual(update(state, { type: "filter", set: { process: [], from: undefined } }).filter, { until: 9 });
	assert.deepEqual(update(state, { type: "clear" }).filter, {});
	assert.deepEqual(fresh.filter, {}, "states are never changed");
});

test("ids of nodes are those of one filter", () => {
	const zoomed = after({ type: "zoom", node: 9 });
	for (const action of [{ type: "filter", set: { from: 1 } }, { type: "clear" }, { type: "invert" }] as Action[])
		assert.equal(update(zoomed, action).zoom, 0, action.type);
	assert.equal(update(zoomed, { type: "flame", set: { color: "system" } }).zoom, 9);
	assert.equal(update(zoomed, { type: "flame", set: { measure: "calls" } }).zoom, 0);
});

test("back undoes filters and views, not typing", () => {
	assert.ok(isStep({ type: "filter", set: {} }) && isStep({ type: "view", view: "flame" }) && isStep({ type: "zoom", node: 1 }));
	assert.ok(!isStep({ type: "search", text: "x" }) && !isStep({ type: "columns", view: "x", columns: [] }));
});

test("another view's table stays", () => {
	const state = after({ type: "sort", view: "functions", sort: { column: "a", descending: true } });
	assert.deepEqual(fromHash("view=callers", fresh, state, VIEWS).tables["functions"], { sort: { column: "a", descending: true } });
});
