/*
 * What the page must show, worked out apart from it: rows of `dwell report --format json`, and how a
 * table writes numbers, as src/format/ says.
 */
import { execFileSync } from "node:child_process";

const UNITS = { ns: 1, us: 1e3, ms: 1e6, s: 1e9 };

export class Oracle {
	constructor(dwell, session) {
		this.dwell = dwell;
		this.session = session;
	}

	/** What dwell prints with @words. */
	run(...words) {
		return execFileSync(this.dwell, words, { encoding: "utf8", maxBuffer: 1 << 30, stdio: ["ignore", "pipe", "pipe"] });
	}

	report(view, ...options) {
		return JSON.parse(this.run("report", this.session, view, "--format", "json", ...options));
	}
}

/** "12.345ms" as ns, "1,234" and "56.78" as numbers, "" as null; other text as it is. */
export function parseCell(text) {
	if (text === "") return null;
	const time = /^([0-9.]+)(ns|us|ms|s)$/.exec(text);
	if (time) return Number(time[1]) * UNITS[time[2]];
	const plain = text.replaceAll(",", "");
	return /^[+-]?[0-9.]+$/.test(plain) ? Number(plain) : text;
}

/** How far a shown text may be from the true number: half of its last digit. */
export function precision(text) {
	const time = /^([0-9.]+)(ns|us|ms|s)$/.exec(text);
	const digits = (time ? time[1] : text).split(".")[1]?.length ?? 0;
	return (0.5000001 / 10 ** digits) * (time ? UNITS[time[2]] : 1);
}

/** Whether @text may be @value with parts left out: what stands around each ellipsis does so in order. */
function isShortened(text, value) {
	const parts = text.split("…");
	let at = 0;
	for (const part of parts) {
		at = value.indexOf(part, at);
		if (at < 0) return false;
		at += part.length;
	}
	return parts.length > 1 && value.endsWith(parts.at(-1)) && parts.join("").length > 1;
}

/** What is wrong with @text as the cell that holds @value; "" = nothing. */
export function wrong(text, value) {
	if (value === null || value === undefined) return text === "" ? "" : `"${text}" for nothing`;
	if (typeof value === "string") return text === value || isShortened(text, value) ? "" : `"${text}" for "${value}"`;
	const shown = parseCell(text);
	if (typeof shown !== "number") return `"${text}" for ${value}`;
	return Math.abs(shown - value) <= precision(text) ? "" : `${text} for ${value}`;
}
