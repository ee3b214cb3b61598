/* Numbers as the terminal prints them (src/format/units.c, table-cell.c), and in words. */
import type { Cell, Kind } from "./protocol.ts";

/** Units of times: what one is, and how many digits stand behind its point by enum dw_time_digits. */
const UNITS = [
	{ name: "ns", ns: 1, decimals: [0, 0, 0, 0] },
	{ name: "us", ns: 1e3, decimals: [0, 3, 3, 3] },
	{ name: "ms", ns: 1e6, decimals: [0, 3, 3, 6] },
	{ name: "s", ns: 1e9, decimals: [3, 3, 6, 6] },
] as const;

const DIGITS_FEW = 0;

export function isTime(kind: Kind): boolean {
	return kind === "time" || kind === "duration" || kind === "call";
}

/** The unit of a column whose largest cell is @ns: small ones should still be seen. */
export function unitFor(ns: number, digits = 1): number {
	let unit = digits === DIGITS_FEW ? 2 : 0;
	while (unit < 3 && ns >= 10 * UNITS[unit + 1]!.ns) unit++;
	return unit;
}

export function time(ns: number, unit: number, digits = 1): string {
	const { name, ns: size, decimals } = UNITS[unit]!;
	return ns ? (ns / size).toFixed(decimals[digits]!) + name : "0";
}

/** Two decimals, rounded as C does it: the half of a hundredth up. */
export function percent(value: number): string {
	const hundredths = Math.floor(value * 100 + 0.5);
	return `${Math.floor(hundredths / 100)}.${String(hundredths % 100).padStart(2, "0")}`;
}

/** 1234567 as 1,234,567. */
export function grouped(n: number): string {
	const digits = String(Math.abs(Math.round(n)));
	return (n < 0 ? "-" : "") + digits.replace(/\B(?=(\d{3})+$)/g, ",");
}

/** What a table's column needs to write its cells alike. */
interface Writer {
	kind: Kind;
	digits: number;
	unit: number;
}

export function writerOf({ kind, digits }: { kind: Kind; digits: number }, max: number): Writer {
	return { kind, digits, unit: unitFor(max, digits) };
}

export function cellText(cell: Cell, w: Writer): string {
	if (cell === null || cell === undefined) return "";
	if (typeof cell === "string") return cell;
	if (isTime(w.kind)) return time(cell, w.unit, w.digits);
	if (w.kind === "percent") return percent(cell);
	if (w.kind === "change") return (cell >= 0 ? "+" : "") + cell;
	if (w.kind === "count") return grouped(cell);
	return String(cell);
}

/** A time alone, in words: "13.2 µs". */
export function duration(ns: number): string {
	const units: [number, string][] = [[1e9, "s"], [1e6, "ms"], [1e3, "µs"]];
	for (const [size, name] of units)
		if (ns >= size) return `${(ns / size).toFixed(ns >= 100 * size ? 0 : ns >= 10 * size ? 1 : 2)} ${name}`;
	return `${Math.round(ns)} ns`;
}

/** A number of bytes in words: "7200 B", "16.8 kB". */
export function bytes(n: number): string {
	if (n < 10000) return `${n} B`;
	let value = n / 1e3;
	let unit = 0;
	for (; value >= 1e3 && unit < 5; unit++) value /= 1e3;
	return `${value.toFixed(value < 100 ? 1 : 0)} ${["kB", "MB", "GB", "TB", "PB", "EB"][unit]}`;
}

/** One amount of a measure, in words. */
export function amount(value: number, kind: Kind, id: string): string {
	if (isTime(kind)) return duration(value);
	if (id.includes("bytes")) return bytes(value);
	return grouped(value);
}

/** How far a count of samples may be off: one standard deviation, as points of a percentage. */
export function samplingError(count: number, total: number): { relative: number; points: number } {
	const relative = count ? 1 / Math.sqrt(count) : 0;
	return { relative, points: total ? (100 * Math.sqrt(count)) / total : 0 };
}
