/* Tables as RFC 4180 has them: raw numbers, titles first. */
import type { GridColumn } from "./cells.ts";
import { el } from "./dom.ts";
import { grouped } from "./format.ts";
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

/** Pages opened from a file may have no clipboard of their own; selecting and copying mostly works. */
async function copy(text: string): Promise<void> {
	try {
		await navigator.clipboard.writeText(text);
	} catch {
		const area = el("textarea");
		area.value = text;
		document.body.append(area);
		area.select();
		const isCopied = document.execCommand("copy");
		area.remove();
		if (!isCopied) throw new Error("this browser lets the page copy nothing");
	}
}

/** Copies all rows of @source as they are shown, columns and order alike; says what became of it. */
export async function copyCsv(source: Source, columns: readonly GridColumn[]): Promise<string> {
	try {
		const rows = await source.some(0, ROWS_MAX);
		const cells = rows.map((row) => columns.map((column) => row.cells[column.at] ?? null));
		await copy(toCsv(columns.map((column) => column.title), cells));
		const of = rows.length < source.total ? `The first ${grouped(rows.length)} of ${grouped(source.total)}` : grouped(rows.length);
		return `${of} rows were copied as CSV.`;
	} catch (error) {
		return `Nothing was copied: ${(error as Error).message}`;
	}
}
