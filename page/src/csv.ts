/* Tables as RFC 4180 has them: raw numbers, titles first. */
import type { GridColumn } from "./cells.ts";
import { announce } from "./dom.ts";
import type { Context } from "./panel.ts";
import type { Cell } from "./protocol.ts";
import type { Source } from "./source.ts";

const ROWS_MAX = 1_000_000;

function field(cell: Cell): string {
	const text = cell === null || cell === undefined ? "" : String(cell);
	return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

export function toCsv(titles: readonly string[], rows: readonly Cell[][]): string {
	return [titles, ...rows].map((row) => row.map(field).join(",") + "\r\n").join("");
}

/** Pages opened from a file may have no clipboard of their own; selecting and copying always works. */
async function copy(text: string): Promise<void> {
	try {
		await navigator.clipboard.writeText(text);
	} catch {
		const area = document.createElement("textarea");
		area.value = text;
		document.body.append(area);
		area.select();
		document.execCommand("copy");
		area.remove();
	}
}

/** Copies all rows of @source as they are shown, columns and order alike. */
export async function copyCsv(source: Source | undefined, columns: readonly GridColumn[], context: Context): Promise<void> {
	if (!source) return;
	const rows = await source.some(0, ROWS_MAX);
	const cells = rows.map((row) => columns.map((column) => row.cells[column.at] ?? null));
	await copy(toCsv(columns.map((column) => column.title), cells));
	announce(`${rows.length} rows copied`);
	context.report(`${rows.length} rows were copied as CSV.`);
}
