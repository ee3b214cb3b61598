/*
 * All that the page shows, in one value. It changes by update() alone, is written to the address by
 * link.ts, and says nothing of what is being fetched or drawn.
 */
import type { Filter } from "./protocol.ts";

export interface Sort {
	column: string;
	descending: boolean;
}

/** How one view's table was set up. */
interface Table {
	sort?: Sort;
	columns?: string[];
}

export type FlameColor = "module" | "system";
export type FlameOrder = "weight" | "name" | "time";

interface FlameState {
	measure: string;
	color: FlameColor;
	order: FlameOrder;
	/** Roots below, as flames; else above, as icicles. */
	up: boolean;
}

export interface State {
	view: string;
	filter: Filter;
	search: string;
	/** The function that callers and source views are about, in words that mean it alone. */
	fn: string;
	inverted: boolean;
	/** The node that fills the flame graph's width, 0 = the root. */
	zoom: number;
	flame: FlameState;
	tables: Record<string, Table>;
	/** Rows of the timeline for each thread, not only their sum. */
	threads: boolean;
}

export type Action =
	| { type: "view"; view: string; fn?: string }
	| { type: "filter"; set: { [K in keyof Filter]?: Filter[K] | undefined } }
	| { type: "clear" }
	| { type: "search"; text: string }
	| { type: "sort"; view: string; sort: Sort }
	| { type: "columns"; view: string; columns: string[] | undefined }
	| { type: "invert" }
	| { type: "zoom"; node: number }
	/** The same node has another number in a newer reading of the session. */
	| { type: "renumber"; node: number }
	| { type: "flame"; set: Partial<FlameState> }
	| { type: "threads" }
	| { type: "restore"; state: State };

export function initialState(view: string, measure: string): State {
	return {
		view,
		filter: {},
		search: "",
		fn: "",
		inverted: false,
		zoom: 0,
		flame: { measure, color: "module", order: "weight", up: false },
		tables: {},
		threads: false,
	};
}

/** @filter with @set in it; what is undefined, empty or false is taken out. */
function filtered(filter: Filter, set: object): Filter {
	const all: Record<string, unknown> = { ...filter, ...set };
	for (const [key, value] of Object.entries(all))
		if (value === undefined || value === "" || value === false || (Array.isArray(value) && !value.length))
			delete all[key];
	return all as Filter;
}

function withTable(state: State, view: string, set: Partial<Table>): State {
	const table: Record<string, unknown> = { ...state.tables[view], ...set };
	for (const key of Object.keys(table)) if (table[key] === undefined) delete table[key];
	return { ...state, tables: { ...state.tables, [view]: table as Table } };
}

/** The state after @action. Ids of nodes are those of one filter, so a new one zooms out. */
export function update(state: State, action: Action): State {
	switch (action.type) {
		case "view":
			if (action.fn === undefined) return { ...state, view: action.view };
			return { ...state, view: action.view, fn: action.fn };
		case "filter":
			return { ...state, filter: filtered(state.filter, action.set), zoom: 0 };
		case "clear":
			return { ...state, filter: {}, zoom: 0 };
		case "search":
			return { ...state, search: action.text };
		case "sort":
			return withTable(state, action.view, { sort: action.sort });
		case "columns":
			return withTable(state, action.view, { columns: action.columns } as Partial<Table>);
		case "invert":
			return { ...state, inverted: !state.inverted, zoom: 0 };
		case "zoom":
		case "renumber":
			return { ...state, zoom: action.node };
		case "flame":
			return {
				...state,
				flame: { ...state.flame, ...action.set },
				zoom: action.set.measure || action.set.order ? 0 : state.zoom,
			};
		case "threads":
			return { ...state, threads: !state.threads };
		case "restore":
			return action.state;
	}
}

/** Whether going back should undo @action: typing and looks are not steps. */
export function isStep(action: Action): boolean {
	return ["view", "filter", "clear", "invert", "zoom", "sort"].includes(action.type);
}
