/* The engine's answer to "open", made what the shell works with: kinds of cells, titles, help. */
import { columnHelp } from "./column-help.ts";
import type { Column, Filter, Kind, Measure, ProcessInfo, Session, ViewInfo } from "./protocol.ts";

interface RawColumn {
	id: string;
	title: string;
	header?: string;
	unit: string;
	kind?: Kind;
	digits?: number;
	help?: string;
	is_default: boolean;
	is_measure: boolean;
	is_amount?: boolean;
}

interface RawSession {
	title: string;
	command?: string | null;
	method: string[];
	recorded_at_ms?: number;
	duration_ns: number;
	event?: string;
	views: (Omit<ViewInfo, "columns"> & { columns: RawColumn[] })[];
	processes: ProcessInfo[];
	modules: string[];
	measures: string[];
	can?: string[];
}

const KINDS: Record<string, Kind> = {
	text: "text", number: "number", count: "count", bytes: "count", change: "change", percent: "percent",
	time: "time", ns: "duration", address: "address",
};

/** Filters that every engine takes. */
const ALWAYS: (keyof Filter)[] = ["process", "thread", "module", "from", "until", "just_my_code", "waits", "root"];
const DIGITS_OF_SAMPLES = 0;

function column(raw: RawColumn): Column {
	const isCall = raw.unit === "ns" && /^(avg|max|min)_/.test(raw.id);
	const result: Column = {
		id: raw.id,
		title: raw.title,
		header: raw.header ?? raw.title,
		kind: raw.kind ?? (isCall ? "call" : (KINDS[raw.unit] ?? "text")),
		help: raw.help ?? columnHelp(raw.id),
		is_default: raw.is_default,
		is_measure: raw.is_measure,
		is_amount: raw.is_amount ?? raw.is_measure,
	};
	if (raw.digits !== undefined) result.digits = raw.digits;
	else if (/_cpu_time$/.test(raw.id)) result.digits = DIGITS_OF_SAMPLES;
	return result;
}

/** Titles of tabs; the names of views are those of `dwell report`. */
const TITLES: Record<string, string> = {
	summary: "Summary",
	flame: "Flame graph",
	calltree: "Call tree",
	functions: "Functions",
	callers: "Callers",
	modules: "Modules",
	lines: "Lines",
	instructions: "Instructions",
	processes: "Processes",
	threads: "Threads",
	waits: "Waits",
	slowest: "Slowest calls",
	"file-io": "Files",
	allocations: "Allocations",
	lifetime: "Lifetime",
	gc: "Collections",
};

export function viewTitle(name: string): string {
	return TITLES[name] ?? name;
}

function measure(id: string, views: readonly ViewInfo[]): Measure {
	const found = views.flatMap((view) => view.columns).find((other) => other.id === id);
	const result: Measure = { id, title: found?.title ?? id, kind: found?.kind ?? "count" };
	if (found?.digits !== undefined) result.digits = found.digits;
	return result;
}

export function makeSession(answer: unknown): Session {
	const raw = answer as RawSession;
	const views = raw.views.map((view): ViewInfo => ({ ...view, columns: view.columns.map(column) }));
	const measures = raw.measures.map((id) => measure(id, views));
	// The tree's own order tells which of them is the session's main one.
	const main = views.find((view) => view.name === "calltree")?.sort;
	measures.sort((a, b) => Number(b.id === main) - Number(a.id === main));
	return {
		title: raw.title,
		command: raw.command ?? null,
		method: raw.method[0] ?? "",
		recorded_at: raw.recorded_at_ms ?? null,
		duration_ns: raw.duration_ns,
		views,
		processes: raw.processes,
		modules: raw.modules,
		measures,
		can: raw.can ?? ALWAYS,
	};
}
