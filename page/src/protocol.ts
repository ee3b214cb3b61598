/*
 * What the page asks of the engine, and what it gets: JSON both ways. The engine is dwell's own
 * code, so no number is computed here that a report of the terminal has.
 */

/** What a cell holds; it decides how the cell is written. */
export type Kind =
	| "text"
	| "count"
	| "change"
	| "number"
	| "percent"
	| "time"
	| "duration"
	| "call"
	| "address";

export interface Column {
	id: string;
	title: string;
	/** The short heading. */
	header: string;
	kind: Kind;
	/** Of times: how many digits they are worth, 0 to 3 as in the terminal. */
	digits: number;
	help: string;
	is_default: boolean;
	is_measure: boolean;
	/** It falls by nature: the largest comes first. */
	is_amount: boolean;
}

export interface ViewInfo {
	name: string;
	title: string;
	is_tree: boolean;
	/** Whether it is of one function. */
	function: "never" | "may" | "must";
	/** The column that it is sorted by unless one is chosen. */
	sort?: string;
	columns: Column[];
}

interface ThreadInfo {
	/** The system's number. */
	id: number;
	name: string;
}

export interface ProcessInfo {
	id: number;
	name: string;
	command_line?: string | null;
	threads: ThreadInfo[];
}

export interface Measure {
	id: string;
	title: string;
	kind: Kind;
}

export interface Session {
	/** Empty where it is not known. */
	command: string;
	method: string;
	/** 0 = it is not known. */
	recorded_at_ms: number;
	duration_ns: number;
	views: ViewInfo[];
	processes: ProcessInfo[];
	modules: string[];
	measures: Measure[];
}

/** What is left of the recording; all parts are those of `dwell report`. */
export interface Filter {
	process?: number[];
	thread?: number[];
	module?: string[];
	from?: number;
	until?: number;
	/** The system's code is part of what called it. */
	just_my_code?: boolean;
	waits?: string;
	root?: string;
}

export type Cell = number | string | null;

export interface RowsRequest {
	op: "rows";
	/** The reading that is asked for; undefined = the newest. */
	reading?: number;
	view: string;
	filter: Filter;
	columns: string[];
	sort?: string;
	descending?: boolean;
	search?: string;
	from: number;
	count: number;
}

export interface Rows {
	total: number;
	rows: Cell[][];
	ids: number[];
	/** By row: the function it is about, 0 = none. */
	functions?: number[];
	max?: (number | null)[];
	session?: Record<string, unknown>;
}

/** Children of one node. */
export interface TreeRows extends Rows {
	has_children: boolean[];
}

export interface FlameNodes {
	id: number[];
	depth: number[];
	start: number[];
	value: number[];
	self: number[];
	blocked: number[];
	name: number[];
	module: number[];
}

export interface Flame {
	names: string[];
	modules: string[];
	total: number;
	cut_share: number;
	nodes: FlameNodes;
}

export interface TimelineThread {
	id: number;
	name: string;
	process: number;
	running: number[];
	blocked: number[];
}

export interface Timeline {
	from: number;
	until: number;
	unit: "ns" | "count" | "bytes";
	threads_total: number;
	threads: TimelineThread[];
}

/** A sentence of the summary, or a row of one of its lists. */
export interface Note {
	kind: "title" | "heading" | "says" | "apart" | "share" | "path" | "ranked" | "slowest" | "work";
	text: string;
	/** Of rows: percentages, the first is what the row has. */
	shares?: number[];
	about?: { function?: string; name?: string; module?: string; id: number };
	level?: number;
	/** Of a path: callers of the row are not shown. */
	leaves_out?: boolean;
	time_ns?: number;
}

/**
 * Answers each request in turn; an answer `{error}` rejects. Of a recording that goes on @reading says
 * which reading is meant; `{is_old}` is the answer when there is a newer one.
 */
export interface Engine {
	request(request: object, reading: number): Promise<unknown>;
}

/** How it is with a recording that goes on. */
export interface Look {
	/** Number of what was read last: ids are those of one reading. */
	reading: number;
	state: "runs" | "left" | "ended";
	/** When to look again. */
	after_ms: number;
	/** What is being written. */
	file: string;
	/** Why there is nothing newer. */
	problem?: string;
}
