/* The head of the page: what was recorded, the search, looks, help. */
import { button, debounced, el } from "./dom.ts";
import { duration } from "./format.ts";
import { shorten, shown } from "./names.ts";
import type { Context } from "./panel.ts";
import type { State } from "./state.ts";
import { themeButton } from "./theme.ts";

const METHODS: Record<string, string> = {
	sampling: "Sampling",
	calls: "Instrumentation",
	instrumentation: "Instrumentation",
	allocations: ".NET memory",
	memory: ".NET memory",
};
const TYPING_MS = 120;

export class Header {
	readonly element: HTMLElement;
	private readonly search: HTMLInputElement;

	constructor(context: Context, help: () => void) {
		const { session } = context;
		const command = session.command ?? session.title;
		this.search = el("input", {
			type: "search",
			placeholder: "Search names  ( / )",
			"aria-label": "Search names",
			spellcheck: "false",
		});
		const type = debounced(TYPING_MS, () => context.dispatch({ type: "search", text: this.search.value }));
		this.search.addEventListener("input", type);
		this.search.addEventListener("keydown", (event) => {
			if (event.key !== "Escape" && event.key !== "Enter") return;
			if (event.key === "Escape" && this.search.value) {
				this.search.value = "";
				context.dispatch({ type: "search", text: "" });
			} else this.search.blur();
			event.stopPropagation();
		});
		this.element = el(
			"header",
			{},
			el("h1", { dir: "ltr", "data-tip": shown(command.slice(0, 2000)) }, shorten(command, 120)),
			el("span.method", {}, METHODS[session.method] ?? session.method),
			el("span.quiet", {}, duration(session.duration_ns)),
			el("span.grow"),
			this.search,
			themeButton(),
			button("?", help, { "aria-label": "Keys and help", "data-tip": "All keys (?)" }),
		);
		document.title = `${shorten(command, 60)} – dwell`;
	}

	show(state: State): void {
		if (document.activeElement !== this.search) this.search.value = state.search;
	}

	focusSearch(): void {
		this.search.focus();
		this.search.select();
	}
}
