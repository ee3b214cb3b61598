/*
 * The butterfly: who calls a function, the function, and what it calls. A click on either side makes
 * that the function in the middle; the browser's back returns.
 */
import { button, el, fill, placeIn, refill, type Child } from "./dom.ts";
import { columnHelp } from "./column-help.ts";
import { amount, percent } from "./format.ts";
import { functionActions, goToFunction, wordsFor } from "./function-actions.ts";
import { fileName, shorten, shown, tipOf } from "./names.ts";
import { viewInfo, type Context, type Panel } from "./panel.ts";
import type { Cell, Column, Filter, Rows } from "./protocol.ts";
import { Question } from "./question.ts";
import { rankedRow } from "./ranked.ts";
import { isExtra } from "./session.ts";
import type { State } from "./state.ts";

/** A row of the view, by column id, and the function that it is about. */
interface FunctionRow {
	cells: Record<string, Cell>;
	fnId: number;
}

interface Answer {
	of: string;
	callers: FunctionRow[];
	self: FunctionRow | undefined;
	callees: FunctionRow[];
	lines: FunctionRow[];
}

/** What rows are, as column "type" says. */
const [SELF, CALLER, CALLEE, LINE] = [0, 1, 2, 3];
const NAME_CHARACTERS = 52;
/** Rows of a side that are shown. What there is more of is told, so all are asked for: they stand one side behind the other. */
const ROWS_MAX = 400;
const ASKED_AT_ONCE = 10_000;

export class CallersPanel implements Panel {
	readonly element = el("div.callers", { tabindex: -1 });
	private readonly question: Question<Answer | undefined>;
	/** What is in the middle: of the state, or where one would begin. */
	private middle: string | undefined;

	constructor(private readonly context: Context) {
		this.question = new Question<Answer | undefined>(
			context.client, placeIn(this.element), (answer) => this.draw(answer), () => (this.middle = undefined));
	}

	private columns(): Column[] {
		return viewInfo(this.context.session, "function")?.columns.filter(({ id }) => !isExtra(id)) ?? [];
	}

	/** The measure that shares are of, and its column of shares. */
	private main(): { total: Column; share: Column | undefined } | undefined {
		const sort = viewInfo(this.context.session, "callers")?.sort;
		const total = this.columns().find((column) => column.id === sort);
		return total && { total, share: this.columns().find((column) => column.id === `${total.id}_percent`) };
	}

	tools(): HTMLElement[] {
		return functionActions(this.context, "callers", () => (this.question.waits || !this.middle ? undefined : { fn: this.middle, fnId: 0 }));
	}

	show({ fn, filter }: State): void {
		this.question.ask({ fn, filter }, () => this.answer(fn, filter));
	}

	private async answer(fn: string, filter: Filter): Promise<Answer | undefined> {
		const of = fn || (await this.suggestion(filter));
		if (!of) return undefined;
		const columns = this.columns().map((column) => column.id);
		const all: FunctionRow[] = [];
		let total = 1;
		while (all.length < total) {
			const answer = await this.context.client.ask<Rows>({
				op: "rows", view: "function", name: of, filter, columns, from: all.length, count: ASKED_AT_ONCE,
			}, this.question);
			if (!answer.rows.length) break;
			total = answer.total;
			all.push(...answer.rows.map((cells, i): FunctionRow => ({
				cells: Object.fromEntries(columns.map((id, at) => [id, cells[at] ?? null])), fnId: answer.functions?.[i] ?? 0,
			})));
		}
		const some = (type: number | undefined) => all.filter((row) => row.cells["type"] === type);
		return { of, callers: some(CALLER), self: some(SELF)[0], callees: some(CALLEE), lines: some(LINE) };
	}

	/** Without a function: the one with the most of its own is where one would begin. */
	private async suggestion(filter: Filter): Promise<string | undefined> {
		const request = { op: "rows", view: "functions", columns: ["function_name"], filter, from: 0, count: 1 };
		const { rows, functions } = await this.context.client.ask<Rows>(request, this.question);
		return rows[0] && wordsFor(this.context, { fn: String(rows[0][0] ?? ""), fnId: functions?.[0] ?? 0 });
	}

	private value({ cells }: FunctionRow, column: Column | undefined): string {
		const value = column && cells[column.id];
		if (typeof value !== "number") return "";
		return column!.kind === "percent" ? `${percent(value)} %` : amount(value, column!.kind, column!.id);
	}

	private name(row: FunctionRow): HTMLElement {
		const fn = String(row.cells["function_name"] ?? row.cells["name"] ?? "");
		const words = el("span.words", { dir: "ltr", "data-tip": tipOf(fn, String(row.cells["module_name"] ?? "")) });
		const go = () => goToFunction(this.context, "callers", { fn, fnId: row.fnId });
		words.append(row.fnId ? button(shorten(fn, NAME_CHARACTERS), go, { class: "link" }) : shorten(fn, NAME_CHARACTERS));
		return words;
	}

	private side(title: string, help: string, rows: readonly FunctionRow[], of: FunctionRow | undefined): HTMLElement {
		const main = this.main();
		const valueOf = (row: FunctionRow | undefined) => Number((main && row?.cells[main.total.id]) ?? 0);
		const whole = valueOf(of);
		const list = el("ol.ranked");
		for (const row of rows.slice(0, ROWS_MAX)) {
			const n = row.cells["number_of_calls"];
			const calls = typeof n === "number" ? `${amount(n, "count", "")} ${n === 1 ? "call" : "calls"}` : "";
			list.append(rankedRow({
				figure: this.value(row, main?.share) || this.value(row, main?.total), help: main?.total.help,
				part: whole ? (100 * valueOf(row)) / whole : 0,
				words: this.name(row), beside: [this.value(row, main?.total), calls].filter(Boolean).join(", "),
			}));
		}
		return el("section.card", {}, el("h2", {}, title, el("small", {}, help)), list,
			rows.length > ROWS_MAX && el("p.quiet", {}, `and ${rows.length - ROWS_MAX} more`),
			!rows.length && el("p.quiet", {}, "none"));
	}

	private about(row: FunctionRow, name: string): HTMLElement {
		const { source_file: source, function_line_number: line, module_name: module, module_path: path } = row.cells;
		const facts = el("dl");
		const known = this.columns().filter(({ id, is_measure, is_default }) => is_measure && is_default && row.cells[id] !== null);
		for (const column of known) {
			const share = known.find(({ id }) => id === `${column.id}_percent`);
			// A share stands beside what it is of.
			if (known.some(({ id }) => `${id}_percent` === column.id)) continue;
			facts.append(el("dt", { "data-tip": column.help }, column.title),
				el("dd.figure", {}, [this.value(row, column), this.value(row, share)].filter(Boolean).join(" · ")));
		}
		return el("section.card.middle", {},
			el("h2", { dir: "ltr", "data-tip": tipOf(name) }, shorten(name, 160)),
			el("p.quiet", { dir: "ltr", "data-tip": tipOf(String(source ?? path ?? "")) },
				shown([module, source && fileName(String(source)) + (line ? `:${line}` : "")].filter(Boolean).join(" · "))),
			facts);
	}

	/** Bars are of what the function has of its own. */
	private lines(all: readonly FunctionRow[], self: FunctionRow): Child {
		const rows = all.filter((row) => typeof row.cells["source_line_begin"] === "number");
		const sort = viewInfo(this.context.session, "lines")?.sort;
		const total = this.columns().find((column) => column.id === sort);
		if (!rows.length || !total) return null;
		const share = this.columns().find((column) => column.id === `${total.id.replace(/_percent$/, "")}_percent`);
		const whole = Number(self.cells[total.id] ?? 0);
		const list = el("ol.ranked.lines");
		for (const row of rows.slice(0, ROWS_MAX)) {
			const { source_file: file, source_line_begin: line, source_text: text } = row.cells;
			list.append(rankedRow({
				figure: this.value(row, share), help: columnHelp(total.id), part: whole ? (100 * Number(row.cells[total.id] ?? 0)) / whole : 0,
				words: el("span.words.code", { dir: "ltr" }, shown(`${fileName(String(file ?? ""))}:${line ?? "?"}  ${text ?? ""}`)),
				beside: this.value(row, total),
			}));
		}
		return el("section.card", {}, el("h2", {}, "Its lines", el("small", {}, total.title)), list);
	}

	private draw(answer: Answer | undefined): void {
		this.middle = answer?.of;
		if (!answer) return fill(this.element, el("p.problem", {}, "Nothing here under these filters."));
		const { self, callers, callees, lines } = answer;
		const name = shorten(answer.of, 160);
		if (!self) return fill(this.element, el("p.problem", {}, `Nothing of ${name} is left under these filters.`));
		refill(this.element,
			el("div.butterfly", {},
				this.side("Callers", "what their calls of it caused", callers, self),
				this.about(self, String(self.cells["function_name"] ?? "")),
				this.side("Callees", "what they took when called by it", callees, self)),
			this.lines(lines, self));
	}

	focus(): void {
		this.element.focus({ preventScroll: true });
	}
}
