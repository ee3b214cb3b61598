/* Cells of tables: numbers right under each other, bars behind shares, names as far as they fit. */
import { el, type Child } from "./dom.ts";
import { cellText, samplingError, writerOf } from "./format.ts";
import { shorten, shortenPath, split, tipOf } from "./names.ts";
import type { Cell, Column, Kind } from "./protocol.ts";
import type { Row } from "./source.ts";
import type { Sort } from "./state.ts";

/** What became of objects: a part of their picture. */
interface Part {
	at: number;
	title: string;
	/** As the style sheet calls it. */
	class: string;
}

export interface GridColumn {
	id: string;
	title: string;
	help: string;
	kind: Kind;
	digits: number;
	/** Its place in a row's cells. */
	at: number;
	/** Its least width in pixels, and its part of what is left. */
	least: number;
	grows: number;
	sorts: boolean;
	isText: boolean;
	falls: boolean;
	/** Of a picture: the columns whose numbers are its parts. */
	parts?: readonly Part[];
	/** Of counts of samples: all of them, for the error that each has. */
	samplesOf?: number | undefined;
}

const WIDTHS: Record<Kind, number> = {
	text: 150, count: 88, change: 88, number: 72, percent: 88, time: 112, duration: 104, call: 112, address: 150,
};
/** Of the characters of names, on an average; the layout clips what is wider. */
const CHARACTER_PX = 6.9;
const NAME_PX = 320;
const FATE_PX = 180;
const INDENT_PX = 12;
const INDENT_MAX = 24;

/** The column @column of a view as a table shows it, the first one as the row's name. */
export function gridColumn(column: Column, at: number, isFirst: boolean, samples?: number): GridColumn {
	const title = column.header;
	const isText = column.kind === "text";
	const least = Math.max(WIDTHS[column.kind], Math.min(title.length, 26) * 7 + 32);
	return {
		id: column.id,
		title,
		help: column.title === title ? column.help : `${column.title}. ${column.help}`,
		kind: column.kind,
		digits: column.digits,
		at,
		least: isFirst ? NAME_PX : least,
		grows: isFirst ? 4 : isText ? 1 : 0,
		sorts: true,
		isText,
		falls: column.is_amount,
		samplesOf: column.id.endsWith("_samples") ? samples : undefined,
	};
}

/** Which of @columns shows that a table is in order @sort: shares are in that of what they are of. */
export function sortedColumn(columns: readonly GridColumn[], sort: Sort | undefined): string | undefined {
	const ids = sort ? [sort.column, `${sort.column}_percent`] : [];
	return ids.find((id) => columns.some((column) => column.id === id));
}

/** @sort: the table's order, if it is shown at this column. */
export function headCell(column: GridColumn, i: number, sort: Sort | undefined): HTMLElement {
	const mark = sort ? (sort.descending ? " ▾" : " ▴") : "";
	return el(
		`div.cell.${i ? (column.isText ? "text" : "number") : "name"}` as "div",
		{
			role: "columnheader",
			"aria-sort": sort ? (sort.descending ? "descending" : "ascending") : "none",
			"aria-description": column.help,
			"data-tip": `${column.title}\n${column.help}`,
			"data-column": column.id,
		},
		el("span.head-text", {}, column.title),
		el("span.sort-mark", {}, mark),
	);
}

/** @text with the parts that are @wanted marked, case ignored. */
function marked(text: string, wanted: string): Child[] {
	return split(text, wanted).map((part, i) => (i % 2 ? el("mark", {}, part) : part));
}

function nameCell(column: GridColumn, row: Row, isTree: boolean, highlight: string): HTMLElement {
	const name = String(row.cells[column.at] ?? "");
	const columns = Math.max(24, Math.floor((innerWidth * 0.42 - Math.min(row.level, INDENT_MAX) * INDENT_PX) / CHARACTER_PX));
	const text = el("span.name-text", { dir: "ltr", "data-tip": tipOf(name) }, ...marked(shorten(name, columns), highlight));
	const cell = el("div.cell.name", { role: isTree ? "gridcell" : "rowheader" });
	if (isTree) {
		cell.style.setProperty("--level", String(Math.min(row.level, INDENT_MAX)));
		cell.append(el("span.twisty", { "aria-hidden": "true" }, row.hasChildren ? (row.isOpen ? "▾" : "▸") : ""));
		if (row.level > INDENT_MAX) cell.append(el("span.deep", {}, `+${row.level - INDENT_MAX}`));
	}
	cell.append(text);
	return cell;
}

/** What a number is, with how sure it is. */
function numberTip(column: GridColumn, cell: Cell, text: string): string {
	const lines = [`${column.title}: ${text}`, column.help];
	if (column.samplesOf && typeof cell === "number" && cell > 0) {
		const { relative, points } = samplingError(cell, column.samplesOf);
		lines.push(`Sampling error: ± ${(100 * relative).toFixed(1)} % of it, ${points.toFixed(2)} points of its share (one standard deviation).`);
	}
	return lines.filter(Boolean).join("\n");
}

const FATES: readonly (readonly [id: string, title: string, name: string, short: string])[] = [
	["gen_0_instances_collected", "died in generation 0", "gen0", "generation 0"],
	["gen_1_instances_collected", "died in generation 1", "gen1", "1"],
	["gen_2_instances_collected", "died in generation 2", "gen2", "2"],
	["large_object_heap_instances_collected", "died in the large object heap", "large", "large object heap"],
	["pinned_object_heap_instances_collected", "died in the pinned object heap", "pinned", "pinned object heap"],
	["instances_alive_at_end", "alive at the end", "alive", "alive at the end"],
];

/** A column that shows where objects of a type died; undefined where that is not known. */
export function fateColumn(columns: readonly Column[]): GridColumn | undefined {
	const parts = FATES.map(([id, title, name]) => ({ at: columns.findIndex((column) => column.id === id), title, class: name }));
	if (parts.some((part) => part.at < 0)) return undefined;
	return {
		id: "fate", title: "Where they died", kind: "text", digits: 0, at: -1, least: FATE_PX, grows: 0, sorts: false,
		isText: true, falls: false, parts,
		help: "Young (left, cheap) to old (dear): generations 0, 1, 2, the heaps of large and pinned objects; last what is still alive.",
	};
}

/** What the colours of fates are. */
export function fateLegend(): HTMLElement {
	return el("span.legend", {}, el("span", {}, "Where they died:"), ...FATES.map(([, , name, short]) => el("span", {}, el(`i.${name}` as "i"), short)));
}

function fateCell(parts: readonly Part[], row: Row): HTMLElement {
	const amounts = parts.map((part) => Number(row.cells[part.at] ?? 0));
	const all = amounts.reduce((sum, n) => sum + n, 0);
	const cell = el("div.cell.fate", { role: "gridcell" });
	const words = parts.map((part, i) => (amounts[i] ? `${amounts[i]} ${part.title}` : "")).filter(Boolean);
	cell.dataset.tip = ["Where they died", ...words].join("\n");
	cell.setAttribute("aria-label", words.join(", "));
	parts.forEach((part, i) => {
		if (!amounts[i]) return;
		const box = el(`i.${part.class}` as "i");
		box.style.width = `${(100 * amounts[i]!) / all}%`;
		cell.append(box);
	});
	return cell;
}

export function cellNode(
	column: GridColumn, row: Row, isFirst: boolean, isTree: boolean, max: readonly number[], highlight: string,
): HTMLElement {
	if (isFirst) return nameCell(column, row, isTree, highlight);
	if (column.parts) return fateCell(column.parts, row);
	const cell = row.cells[column.at] ?? null;
	if (column.isText) {
		const text = String(cell ?? "");
		const short = column.id.endsWith("path") || column.id.endsWith("file") ? shortenPath(text, 60) : shorten(text, 200);
		return el("div.cell.text", { role: "gridcell", "data-tip": tipOf(text) || undefined },
			el("span", { dir: "ltr" }, ...marked(short, highlight)));
	}
	const text = cellText(cell, writerOf(column, max[column.at] ?? 0));
	const element = el("div.cell.number", { role: "gridcell", "data-tip": text ? numberTip(column, cell, text) : undefined }, text);
	if (column.kind === "percent" && typeof cell === "number") {
		element.classList.add(column.id.includes("exclusive") ? "own" : "share");
		element.style.setProperty("--part", String((Math.min(100, cell)) / 100));
	}
	if (cell === 0 && column.kind !== "number" && column.kind !== "time") element.classList.add("zero");
	return element;
}
