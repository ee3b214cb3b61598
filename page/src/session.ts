/* The engine's answer to "open", made what the shell works with: kinds of cells, titles, help. */
import { columnHelp } from "./column-help.ts";
import type { Column, Measure, ProcessInfo, Session, ViewInfo } from "./protocol.ts";

/**
 * The heading of a column that is with or without callees: the measure, then which of both. The
 * terminal has less room and no tips.
 */
export function heading({ title, header }: { title: string; header: string }): string {
	const kind = title.includes("Inclusive") ? "Incl" : title.includes("Exclusive") ? "Excl" : "";
	if (!kind) return header;
	const measure = title.replace(/Inclusive|Exclusive|Time|At Most|%/g, "").replace("Application", "App").replace("Allocations", "Allocs");
	return [...measure.split(" "), kind, ...(/At Most|%/.exec(title) ?? [])].filter(Boolean).join(" ");
}

/** The answer as it comes; columns have no help yet. */
interface RawSession {
	command: string;
	method: string[];
	recorded_at_ms: number;
	duration_ns: number;
	views: (Omit<ViewInfo, "columns"> & { columns: Omit<Column, "help">[] })[];
	processes: ProcessInfo[];
	modules: string[];
	measures: string[];
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
	const { title, kind } = views.flatMap((view) => view.columns).find((column) => column.id === id)!;
	return { id, title, kind };
}

/** Whether column @id is computed for who asks for it alone. They come last, so that rows without them have all else in its place. */
export function isExtra(id: string): boolean {
	return /_latency(_percent)?$/.test(id);
}

export function makeSession(answer: unknown): Session {
	const raw = answer as RawSession;
	const views = raw.views.map((view): ViewInfo => {
		const columns = view.columns.map((column): Column => ({ ...column, header: heading(column), help: columnHelp(column.id) }));
		return { ...view, columns: columns.sort((a, b) => Number(isExtra(a.id)) - Number(isExtra(b.id))) };
	});
	const measures = raw.measures.map((id) => measure(id, views));
	// The tree's own order tells which of them is the session's main one.
	const main = views.find((view) => view.name === "calltree")?.sort;
	measures.sort((a, b) => Number(b.id === main) - Number(a.id === main));
	return { ...raw, method: raw.method[0] ?? "", views, measures };
}
