/* The head of the page: what was recorded, the search, looks, help. */
import { button, debounced, el } from "./dom.ts";
import { duration } from "./format.ts";
import { shorten, tipOf } from "./names.ts";
import type { Context } from "./panel.ts";
import type { State } from "./state.ts";
import { themeButton } from "./theme.ts";

const METHODS: Record<string, string> = {
	sampling: "Sampling",
	calls: "Instrumentation",
	allocations: ".NET memory",
};
const TYPING_MS = 120;

export class Header {
	readonly element: HTMLElement;
	private readonly search: HTMLInputElement;
	private readonly lasts = el("span.quiet");
	private readonly news = el("span.news", { role: "status", hidden: true });

	constructor(private readonly context: Context, help: () => void) {
		const { session } = context;
		// Who attached to a process has started none.
		const [first] = session.processes;
		const command = session.command || first?.command_line || first?.name || "recording";
		this.search = el("input", {
			type: "search",
			placeholder: "Search names  ( / )",
			"aria-label": "Search names",
			spellcheck: "false",
		});
		const search = () => {
			if (this.search.value !== context.state.search) context.dispatch({ type: "search", text: this.search.value });
		};
		this.search.addEventListener("input", debounced(TYPING_MS, search));
		// Before somebody else has the focus, and with it the field's text from the state.
		this.search.addEventListener("blur", search);
		this.search.addEventListener("keydown", (event) => {
			if (event.key !== "Escape" && event.key !== "Enter") return;
			if (event.key === "Escape" && this.search.value) {
				this.search.value = "";
				search();
			} else this.search.blur();
			event.stopPropagation();
		});
		this.element = el(
			"header",
			{},
			el("h1", { dir: "ltr", "data-tip": tipOf(command) }, shorten(command, 120)),
			el("span.method", {}, METHODS[session.method] ?? session.method),
			this.lasts,
			this.news,
			el("span.grow"),
			this.search,
			themeButton(),
			button("?", help, { "aria-label": "Keys and help", "data-tip": "All keys (?)" }),
		);
		this.renew();
		document.title = `${shorten(command, 60)} – dwell`;
	}

	show(state: State): void {
		if (document.activeElement !== this.search) this.search.value = state.search;
	}

	/** The recording has gone on. */
	renew(): void {
		this.lasts.textContent = duration(this.context.session.duration_ns);
	}

	/** Says how it is with the recording; "" = it is finished. */
	say(words: string, isLive: boolean): void {
		this.news.hidden = !words;
		this.news.classList.toggle("live", isLive);
		if (this.news.textContent !== words) this.news.textContent = words;
	}

	focusSearch(): void {
		this.search.focus();
		this.search.select();
	}
}
