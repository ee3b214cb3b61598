/* Rows of ranked lists: a number, a bar of it, a name, and beside it what else is known. */
import { el } from "./dom.ts";

interface Ranked {
	figure: string;
	/** What the figure is. */
	help?: string | undefined;
	/** How much of the bar is filled, in percent, and how much more of it are waits. */
	part: number;
	waits?: number;
	words: HTMLElement;
	beside: string;
}

function share(percent: number): string {
	return String(Math.max(0, Math.min(100, percent)) / 100);
}

export function rankedRow({ figure, help, part, waits = 0, words, beside }: Ranked): HTMLElement {
	const bar = el("span.bar", { "aria-hidden": "true" });
	bar.style.setProperty("--part", share(part));
	bar.style.setProperty("--waits", share(waits));
	return el("li", {}, el("span.figure", { "data-tip": help }, figure), bar, words, el("span.quiet", { dir: "ltr" }, beside));
}
