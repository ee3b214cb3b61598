/* The state as the part of the address behind "#", and back. Only what differs from a fresh page. */
import type { Filter } from "./protocol.ts";
import type { FlameColor, FlameOrder, State } from "./state.ts";

const LISTS = ["process", "thread"] as const;
const TIMES = ["from", "until"] as const;
const FLAGS = ["just_my_code"] as const;
const TEXTS = ["waits", "root"] as const;

function putFilter(out: URLSearchParams, filter: Filter): void {
	for (const key of LISTS) if (filter[key]?.length) out.set(key, filter[key].join(","));
	for (const name of filter.module ?? []) out.append("module", name);
	for (const key of TIMES) if (filter[key] !== undefined) out.set(key, String(filter[key]));
	for (const key of FLAGS) if (filter[key]) out.set(key, "1");
	for (const key of TEXTS) if (filter[key]) out.set(key, filter[key]);
}

/** Text to stand behind "#"; @fresh is what a link without anything means. */
export function toHash(state: State, fresh: State): string {
	const out = new URLSearchParams();
	const table = state.tables[state.view];
	out.set("view", state.view);
	putFilter(out, state.filter);
	if (state.fn) out.set("function", state.fn);
	if (state.search) out.set("search", state.search);
	if (state.inverted) out.set("inverted", "1");
	if (state.zoom) out.set("zoom", String(state.zoom));
	if (state.threads) out.set("threads", "1");
	if (state.flame.measure !== fresh.flame.measure) out.set("width", state.flame.measure);
	if (state.flame.color !== fresh.flame.color) out.set("color", state.flame.color);
	if (state.flame.order !== fresh.flame.order) out.set("order", state.flame.order);
	if (state.flame.up) out.set("up", "1");
	if (table?.sort) out.set("sort", (table.sort.descending ? "-" : "") + table.sort.column);
	if (table?.columns) out.set("columns", table.columns.join(","));
	return out.toString();
}

function wholes(text: string): number[] {
	return text.split(",").map(Number).filter((n) => Number.isSafeInteger(n) && n >= 0);
}

function readFilter(from: URLSearchParams): Filter {
	const filter: Filter = {};
	for (const key of LISTS) {
		const ids = wholes(from.get(key) ?? "");
		if (from.get(key) && ids.length) filter[key] = ids;
	}
	const modules = from.getAll("module").filter(Boolean);
	if (modules.length) filter.module = modules;
	for (const key of TIMES) {
		const [ns] = wholes(from.get(key) ?? "x");
		if (ns !== undefined) filter[key] = ns;
	}
	for (const key of FLAGS) if (from.get(key) === "1") filter[key] = true;
	for (const key of TEXTS) {
		const text = from.get(key);
		if (text) filter[key] = text;
	}
	return filter;
}

/** One of @values, else @otherwise: addresses are typed by people, too. */
function oneOf<T extends string>(values: readonly T[], text: string | null, otherwise: T): T {
	return values.find((value) => value === text) ?? otherwise;
}

/** The state of a link. Tables of views that it does not name stay as they are in @now. */
export function fromHash(hash: string, fresh: State, now: State, views: readonly string[]): State {
	const from = new URLSearchParams(hash.replace(/^#/, ""));
	const view = oneOf(views, from.get("view"), fresh.view);
	const table: State["tables"][string] = {};
	const sort = from.get("sort");
	if (sort) table.sort = { column: sort.replace(/^-/, ""), descending: sort.startsWith("-") };
	const columns = from.get("columns");
	if (columns) table.columns = columns.split(",");
	return {
		view,
		filter: readFilter(from),
		search: from.get("search") ?? "",
		fn: from.get("function") ?? "",
		inverted: from.get("inverted") === "1",
		zoom: wholes(from.get("zoom") ?? "0")[0] ?? 0,
		threads: from.get("threads") === "1",
		flame: {
			measure: from.get("width") ?? fresh.flame.measure,
			color: oneOf<FlameColor>(["module", "system"], from.get("color"), fresh.flame.color),
			order: oneOf<FlameOrder>(["weight", "name", "time"], from.get("order"), fresh.flame.order),
			up: from.get("up") === "1",
		},
		tables: { ...now.tables, [view]: table },
	};
}
