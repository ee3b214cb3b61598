/* The sheet of keys. */
import { button, el } from "./dom.ts";

const KEYS: readonly (readonly [section: string, keys: readonly (readonly [string, string])[]])[] = [
	["Everywhere", [
		["?", "this sheet"],
		["/", "search names"],
		["1 … 9", "the views, in their order"],
		["[  ]", "the view before, the next one"],
		["f", "filter"],
		["x", "show everything again"],
		["Alt ←, Alt →", "back and forward: filters, views, zoom"],
		["t", "light or dark"],
		["m", "threads of the timeline"],
		["Esc", "close a sheet, leave a field"],
	]],
	["Tables and trees", [
		["↑ ↓, j k", "the row above, below"],
		["PgUp PgDn Home End", "further"],
		["→ ←", "open, close; to the parent"],
		["*", "open all below the row"],
		["h", "open the hot path"],
		["c", "close all rows"],
		["i", "inverted: callers below"],
		["Enter", "callers and callees of the function"],
		["d", "all values of the row"],
		["s, click on a heading", "sort by the next column, by this one"],
		["r, click again", "the other way round"],
	]],
	["Flame graph", [
		["← → ↑ ↓", "the frame beside, above, below"],
		["Enter, click", "zoom to the frame"],
		["Esc, 0", "zoom out, to everything"],
		["n, N", "the next, the last one found"],
		["i", "inverted"],
		["Space", "callers of the frame"],
	]],
	["Timeline", [
		["drag", "show this time only, in every view"],
		["← →, with Shift", "move, widen the range"],
		["Backspace", "all of the time"],
	]],
];

export class Help {
	readonly element: HTMLDialogElement;

	constructor() {
		const sections = KEYS.map(([title, keys]) =>
			el("section", {}, el("h2", {}, title),
				el("dl", {}, ...keys.flatMap(([key, what]) => [el("dt", {}, el("kbd", {}, key)), el("dd", {}, what)]))),
		);
		this.element = el("dialog", { "aria-label": "Keys" }, el("div.keys", {}, ...sections),
			el("div.actions", {}, button("Close", () => this.element.close())));
		this.element.addEventListener("click", (event) => {
			if (event.target === this.element) this.element.close();
		});
	}

	open(): void {
		if (!this.element.open) this.element.showModal();
	}
}
