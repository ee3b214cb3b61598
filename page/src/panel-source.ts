/* Lines and instructions: all that have something; of one function all, in the order of the text. */
import { gridColumn } from "./cells.ts";
import { button, el, placeIn } from "./dom.ts";
import { grouped } from "./format.ts";
import { Grid } from "./grid.ts";
import { fileName, shorten } from "./names.ts";
import type { Context, Panel } from "./panel.ts";
import { TablePanel } from "./panel-table.ts";
import type { Cell, Column, ViewInfo } from "./protocol.ts";
import { Question } from "./question.ts";
import { WholeSource } from "./source.ts";
import type { State } from "./state.ts";

interface Answer {
	rows: Cell[][];
	columns: string[];
}

const PARTS = new Set(["source_line_end", "source_character_begin", "source_character_end", "line_name"]);

/** Where a statement is, in place of its text where the session does not hold that. */
const PLACE = "place";
const PLACE_COLUMN: Column = {
	id: PLACE, title: "Statement", header: "Statement", kind: "text", digits: 0, help: "", is_default: true, is_measure: false, is_amount: false,
};

export class SourcePanel implements Panel {
	readonly element = el("div.source-panel");
	private readonly table: TablePanel;
	private readonly grid: Grid;
	private readonly place = el("div.code-of-one");
	private readonly question: Question<Answer>;
	private source: WholeSource | undefined;
	private searched = "";

	constructor(
		private readonly context: Context,
		private readonly info: ViewInfo,
	) {
		// Without the parts of lines a row is a whole line.
		this.table = new TablePanel(context, { ...info, columns: info.columns.filter((column) => !PARTS.has(column.id)) });
		this.grid = new Grid({ label: `${info.title} of a function`, isTree: false });
		this.grid.element.classList.add("code");
		this.place.append(this.grid.element);
		this.element.append(this.table.element, this.place);
		this.question = new Question<Answer>(context.client, placeIn(this.place), (answer, isRenewed) => this.draw(answer, isRenewed), () => {
			this.source = undefined;
			this.grid.clear();
		});
	}

	private get isOfOne(): boolean {
		return !!this.context.state.fn;
	}

	tools(): HTMLElement[] {
		if (!this.isOfOne) return this.table.tools();
		const { view, fn } = this.context.state;
		return [
			el("span.of", { dir: "ltr" }, `of ${shorten(fn, 60)}`),
			button("Callers", () => this.context.dispatch({ type: "view", view: "callers" })),
			button("All functions", () => this.context.dispatch({ type: "view", view, fn: "" }), {
				"data-tip": "The lines of all functions, those with the most first.",
			}),
		];
	}

	show(state: State): void {
		this.search(state.search);
		this.table.element.hidden = this.isOfOne;
		this.place.hidden = !this.isOfOne;
		if (!this.isOfOne) return this.table.show(state);
		this.question.ask({
			op: "annotate", name: state.fn, kind: this.info.name, filter: state.filter,
		});
	}

	/** Marks what was searched for, and goes to the first of it from here on. */
	private search(word: string): void {
		const source = this.source;
		if (!source || !this.isOfOne || word === this.searched) return;
		this.searched = word;
		this.grid.mark(word);
		if (!word) return;
		const has = (i: number) => source.row(i)!.cells.some((cell) => typeof cell === "string" && cell.toLowerCase().includes(word.toLowerCase()));
		const found = Array.from({ length: source.total }, (_, i) => i).filter(has);
		const next = found.find((i) => i >= this.grid.selected) ?? found[0];
		if (next !== undefined) this.grid.select(next, true);
		this.context.report(`${grouped(found.length)} of ${grouped(source.total)} rows have "${word}".`);
	}

	/** The text leads; then where it is, then the numbers. */
	private draw(answer: Answer, isRenewed: boolean): void {
		const text = this.info.name === "lines" ? "source_text" : "instruction";
		const has = (id: string) => {
			const at = answer.columns.indexOf(id);
			return at >= 0 && answer.rows.some((row) => row[at] !== null && row[at] !== 0);
		};
		const where = this.info.name === "lines" ? ["source_line_begin"] : ["instruction_address", "source_line_begin"];
		const shown = this.info.columns.filter(
			(column) => column.is_default && !["text", "address"].includes(column.kind) && !where.includes(column.id),
		);
		const isPlain = this.info.name === "lines" && !has(text);
		const ids = [isPlain ? PLACE : text, ...where, ...shown.map((column) => column.id)].filter((id) => id === PLACE || has(id));
		const all = [...answer.columns, PLACE];
		const columns = ids.map((id, i) => ({
			...gridColumn(
				this.info.columns.find((other) => other.id === id) ?? PLACE_COLUMN,
				all.indexOf(id),
				i === 0,
			),
			sorts: false,
		}));
		const cell = (row: Cell[], id: string) => row[answer.columns.indexOf(id)];
		const main = answer.columns.indexOf(this.info.sort ?? "");
		// Zeros around the few rows that have values would hide them.
		const rows = answer.rows.map((row) => [
			...row.map((value) => (value === 0 && row[main] === null ? null : value)),
			[fileName(String(cell(row, "source_file") ?? "")), cell(row, "source_line_begin") ?? "?", cell(row, "source_character_begin")]
				.filter(Boolean).join(":"),
		]);
		this.source = new WholeSource(rows);
		this.grid.show(this.source, columns, undefined, this.searched, isRenewed);
		if (isRenewed) return;
		const most = (best: number, row: Cell[], i: number) => (Number(row[main] ?? 0) > Number(rows[best]?.[main] ?? 0) ? i : best);
		if (main >= 0) this.grid.select(rows.reduce(most, 0), true);
		this.searched = "";
		this.search(this.context.state.search);
	}

	key(event: KeyboardEvent): boolean {
		return !this.isOfOne && this.table.key(event);
	}

	focus(): void {
		if (this.isOfOne) this.grid.focus();
		else this.table.focus();
	}
}
