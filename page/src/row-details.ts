/* Beside a table: everything that is known of the row at hand, with what each number means. */
import { el, fill } from "./dom.ts";
import { amount, cellText, percent, writerOf } from "./format.ts";
import { functionActions } from "./function-actions.ts";
import { shown } from "./names.ts";
import { nameColumn, type Context } from "./panel.ts";
import type { Cell, Column, ViewInfo } from "./protocol.ts";
import type { Row } from "./source.ts";

const NAME_MAX = 12_000;

export class RowDetails {
	readonly element = el("aside.details", { hidden: true, "aria-label": "Details of the row" });
	private row: Row | undefined;
	private max: readonly number[] = [];

	constructor(
		private readonly context: Context,
		private readonly info: ViewInfo,
	) {}

	toggle(): void {
		this.element.hidden = !this.element.hidden;
		this.draw();
	}

	show(row: Row | undefined, max: readonly number[]): void {
		this.row = row;
		this.max = max;
		if (!this.element.hidden) this.draw();
	}

	private value(column: Column, cell: Cell, at: number): string {
		if (typeof cell !== "number") return shown(String(cell));
		if (column.kind === "percent") return `${percent(cell)} %`;
		if (column.kind === "duration" || column.kind === "call") return amount(cell, column.kind, column.id);
		return cellText(cell, writerOf(column, this.max[at] ?? cell));
	}

	private draw(): void {
		const { row, info } = this;
		if (!row) return fill(this.element, el("p.quiet", {}, "No row is chosen."));
		const name = String(row.cells[nameColumn(info.columns)] ?? "");
		const list = el("dl");
		info.columns.forEach((column, at) => {
			const cell = row.cells[at];
			if (cell === null || cell === undefined || cell === "" || at === nameColumn(info.columns)) return;
			list.append(
				el("dt", { "data-tip": column.help }, column.title),
				el(`dd.${column.kind === "text" ? "words" : "figure"}` as "dd", { dir: "ltr" }, this.value(column, cell, at)),
			);
		});
		const functionAt = info.columns.findIndex((column) => column.id === "function_name");
		const fn = functionAt >= 0 ? String(row.cells[functionAt] ?? "") : "";
		fill(
			this.element,
			el("h2", { dir: "ltr" }, shown(name.slice(0, NAME_MAX))),
			fn && !fn.startsWith("[") && el("div.actions", {}, ...functionActions(this.context, info.name, () => ({ fn, fnId: row.fn }))),
			list,
		);
	}
}
