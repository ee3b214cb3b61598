/*
 * The first page: what the program did, where, what to look at next, and how far to trust it. The
 * sentences are the terminal's; rows of its lists lead to the views that have more.
 */
import { button, el, placeIn, refill, type Child } from "./dom.ts";
import { duration, percent } from "./format.ts";
import { goToFunction } from "./function-actions.ts";
import { shorten, shown, tipOf } from "./names.ts";
import { viewInfo, type Context, type Panel } from "./panel.ts";
import type { Note } from "./protocol.ts";
import { Question } from "./question.ts";
import { rankedRow } from "./ranked.ts";
import { viewTitle } from "./session.ts";
import type { State } from "./state.ts";

/** Names of the summary's rows are cut for a column this wide. */
const NAME_CHARACTERS = 64;

/** Sections that are read beside the others. */
const ASIDE = /trust|measuring changed|not measured/i;

/** Shares that are not the program's own work. */
const WAITING = / (waiting|off-CPU|in system calls|in probes)\b/;

interface Section {
	heading: string;
	notes: Note[];
}

/** Notes by sections, the first without a heading. */
export function sections(notes: readonly Note[]): Section[] {
	const all: Section[] = [{ heading: "", notes: [] }];
	for (const note of notes)
		if (note.kind === "heading") all.push({ heading: note.text, notes: [] });
		else all[all.length - 1]!.notes.push(note);
	return all.filter((section) => section.notes.length);
}

export class SummaryPanel implements Panel {
	readonly element = el("article.summary", { tabindex: -1 });
	private readonly question: Question<{ notes: Note[] }>;

	constructor(private readonly context: Context) {
		this.question = new Question<{ notes: Note[] }>(context.client, placeIn(this.element), ({ notes }) => this.draw(notes));
	}

	tools(): HTMLElement[] {
		return [button("Print", () => print(), { "data-tip": "Print this page, or save it as PDF." })];
	}

	show(state: State): void {
		// As the terminal does: what the system did for the program is the program's.
		this.question.ask({ op: "summary", filter: { ...state.filter, just_my_code: true } });
	}

	private draw(notes: readonly Note[]): void {
		const all = sections(notes.filter((note) => note.kind !== "title"));
		const [lead, ...rest] = all[0]?.heading === "" ? all : [{ heading: "", notes: [] }, ...all];
		refill(
			this.element,
			el("section.lead", {}, ...lead!.notes.map((note, i) => el(i ? "p" : "p.first" as "p", { dir: "ltr" }, shown(note.text)))),
			el("div.cards", {}, ...rest.map((section) => this.section(section))),
			this.next(),
		);
	}

	private section({ heading, notes }: Section): HTMLElement {
		const rows = notes.filter((note) => note.about || note.kind === "share");
		const words = notes.filter((note) => !rows.includes(note));
		const [title, explained] = heading.split(/: (?=shares|bytes|with|types|100 %)|(?= \(█)/);
		return el(
			`section.card${ASIDE.test(heading) ? ".aside" : ""}` as "section",
			{},
			el("h2", {}, title ?? "", explained && this.explained(explained)),
			rows.length > 0 && el("ol.ranked", {}, ...rows.map((note) => this.row(note))),
			...words.map((note) => this.sentence(note.text)),
		);
	}

	/** A sentence of the terminal's; where it names what the page has, it leads there. */
	private sentence(text: string): HTMLElement {
		const plain = shown(text.replace(/\s*\n\s*/g, " ").replace("(--all-code shows it)", "(other views show it)"));
		const [before, view, module, after] = plain.split(/\(view ([a-z-]+)\)|: --module (\S+) shows where/);
		const go = (label: string, action: () => void) => button(label, action, { class: "link" });
		const dispatch = this.context.dispatch;
		if (view && viewInfo(this.context.session, view))
			return el("p", { dir: "ltr" }, before, "(", go(viewTitle(view), () => dispatch({ type: "view", view })), ")", after);
		if (module)
			return el("p", { dir: "ltr" }, before, ": ", go("show where", () => {
				dispatch({ type: "filter", set: { module: [module] } });
				dispatch({ type: "view", view: "functions" });
			}), after);
		return el("p", { dir: "ltr" }, plain);
	}

	/** What a heading says in brackets; signs of a terminal's bars become colours. */
	private explained(text: string): HTMLElement {
		if (!text.includes("█")) return el("small", {}, text.trim());
		const [, running, rest] = /█ ([^,)]+)(?:, ([^)]+))?/.exec(text) ?? [];
		return el("small.bars", {}, el("i"), running ?? "", rest !== undefined && el("i.waits"), rest?.replace(/[▒░] /g, "") ?? "");
	}

	private row(note: Note): HTMLElement {
		const [share, ...more] = note.shares ?? [];
		const isOfWaits = note.kind === "share" && WAITING.test(note.text);
		const running = isOfWaits ? 0 : note.kind === "ranked" && more[0] !== undefined ? more[0] : (share ?? 0);
		const own = note.kind === "path" && more[0] !== undefined && more[0] >= 0.01 ? `${percent(more[0])} % own` : "";
		return rankedRow({
			figure: share === undefined ? duration(note.time_ns ?? 0) : `${percent(share)} %`,
			part: running, waits: (share ?? 0) - running, words: this.about(note), beside: shown(note.about ? note.text || own : ""),
		});
	}

	private about(note: Note): HTMLElement {
		const name = note.about?.function ?? note.about?.name;
		if (!note.about || name === undefined) return el("span.words.whole", { dir: "ltr" }, shown(note.text));
		const text = shorten(name, NAME_CHARACTERS - 2 * (note.level ?? 0));
		const before = note.leaves_out ? "… " : "";
		const id = note.about.id;
		const indent = el("span.words", { dir: "ltr", "data-tip": tipOf(name, note.about.module ?? "") });
		indent.style.setProperty("--level", String(note.level ?? 0));
		if (!id || note.about.function === undefined) indent.append(before + text);
		else indent.append(before, button(text, () => goToFunction(this.context, "callers", { fn: name, fnId: id }), { class: "link" }));
		return indent;
	}

	/** What to look at next, as links. */
	private next(): HTMLElement {
		const go = (view: string, label: string, what: string): Child =>
			(view === "flame" || viewInfo(this.context.session, view)) &&
			el("li", {}, button(label, () => this.context.dispatch({ type: "view", view }), { class: "link" }), ` – ${what}`);
		return el(
			"section.next",
			{},
			el("h2", {}, "Go on"),
			el(
				"ul",
				{},
				go("flame", "Flame graph", "all of it at a glance; a click zooms, / searches"),
				go("calltree", "Call tree", "from the program's start down, with the hot path open"),
				go("functions", "Functions", "every function, sorted by what you like"),
				go("waits", "Waits", "what threads waited for"),
				go("slowest", "Slowest calls", "single calls that took longest"),
				go("allocations", "Allocations", "types, and who allocated them"),
				go("lifetime", "Lifetime", "in which generation objects died"),
				go("gc", "Collections", "when and why the collector stopped the program"),
			),
		);
	}

	focus(): void {
		this.element.focus({ preventScroll: true });
	}
}
