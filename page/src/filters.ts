/* Chips that say what of the recording is shown, each of which takes itself back, and how to filter. */
import { button, el, refill, type Child } from "./dom.ts";
import { duration } from "./format.ts";
import { shorten, tipOf } from "./names.ts";
import type { Context } from "./panel.ts";
import { popover } from "./popover.ts";
import type { Filter, ProcessInfo } from "./protocol.ts";
import type { State } from "./state.ts";

type Change = { [K in keyof Filter]?: Filter[K] | undefined };

interface Chip {
	label: string;
	value: string;
	without: Change;
}

function processName(process: ProcessInfo | undefined, id: number): string {
	return process ? `${process.name} (${process.id})` : String(id);
}

/** Longer lists can be searched. */
const LIST_LONG = 12;

export class Filters {
	readonly element: HTMLElement;
	private readonly opener: HTMLElement;
	/** Beside the opener, whose sheet stays open while they change. */
	private readonly chosen = el("span.chips");
	/** Makes what stands in the sheet what is chosen by now. */
	private follow: ((filter: Filter) => void)[] = [];

	constructor(private readonly context: Context) {
		this.opener = popover("Filter", "Show a part of the recording only. (f)", () => this.choices());
		this.element = el("div.chips", { role: "group", "aria-label": "What is shown" }, this.opener, this.chosen);
	}

	open(): void {
		this.opener.querySelector("button")?.click();
	}

	private chips(filter: Filter): Chip[] {
		const { processes } = this.context.session;
		const threads = processes.flatMap((process) => process.threads);
		const chips: Chip[] = [];
		const without = <T>(list: readonly T[], item: T) => list.filter((other) => other !== item);
		for (const id of filter.process ?? [])
			chips.push({
				label: "process",
				value: processName(processes.find((process) => process.id === id), id),
				without: { process: without(filter.process!, id) },
			});
		for (const id of filter.thread ?? [])
			chips.push({
				label: "thread",
				value: threads.find((thread) => thread.id === id)?.name || String(id),
				without: { thread: without(filter.thread!, id) },
			});
		for (const name of filter.module ?? [])
			chips.push({ label: "module", value: name, without: { module: without(filter.module!, name) } });
		if (filter.from !== undefined || filter.until !== undefined) {
			const from = filter.from ?? 0;
			const until = filter.until ?? this.context.session.duration_ns;
			chips.push({
				label: "time",
				value: `${duration(from)} – ${duration(until)} (${duration(until - from)})`,
				without: { from: undefined, until: undefined },
			});
		}
		if (filter.root) chips.push({ label: "root", value: filter.root, without: { root: undefined } });
		if (filter.just_my_code) chips.push({ label: "", value: "just my code", without: { just_my_code: undefined } });
		if (filter.waits) chips.push({ label: "waits", value: filter.waits, without: { waits: undefined } });
		return chips;
	}

	show(state: State): void {
		const chips = this.chips(state.filter);
		for (const follow of this.follow) follow(state.filter);
		const take = (chip: Chip) => this.context.dispatch({ type: "filter", set: chip.without });
		const elements: Child[] = chips.map((chip) =>
			el(
				"span.chip",
				{ "data-tip": tipOf(chip.value) },
				chip.label && el("span.quiet", {}, `${chip.label} `),
				el("span", { dir: "ltr" }, shorten(chip.value, 48)),
				button("×", () => take(chip), { "aria-label": `Show all again, without ${chip.label} ${shorten(chip.value, 48)}` }),
			),
		);
		refill(
			this.chosen,
			...elements,
			chips.length > 1 && button("Clear all", () => this.context.dispatch({ type: "clear" })),
			!chips.length && el("span.quiet", {}, "everything is shown"),
		);
	}

	/** Boxes of which several may be ticked, in the session's order. */
	private boxes<T>(title: string, all: readonly (readonly [T, string])[], key: "process" | "thread" | "module"): Child {
		if (all.length < 2) return null;
		const list = el("div.choices");
		for (const [id, name] of all.slice(0, 500)) {
			const box = el("input", { type: "checkbox" });
			const chosen = () => (this.context.state.filter[key] ?? []) as T[];
			this.follows(({ [key]: ids }) => (box.checked = ((ids ?? []) as T[]).includes(id)));
			box.addEventListener("change", () => {
				const next = box.checked ? [...chosen(), id] : chosen().filter((other) => other !== id);
				this.context.dispatch({ type: "filter", set: { [key]: next } });
			});
			list.append(el("label", { dir: "ltr", "data-tip": tipOf(name) }, box, shorten(name, 60)));
		}
		return el("fieldset", {}, el("legend", {}, title), all.length > LIST_LONG && this.finder(title, list), list);
	}

	/** A field that hides what does not have its text. */
	private finder(title: string, list: HTMLElement): HTMLElement {
		const input = el("input", { type: "search", placeholder: `find among ${title.toLowerCase()}`, "aria-label": `find among ${title}` });
		input.addEventListener("input", () => {
			for (const label of list.children)
				(label as HTMLElement).hidden = !label.textContent!.toLowerCase().includes(input.value.toLowerCase());
		});
		return input;
	}

	/** Calls @follow with the filter, now and whenever it changes. */
	private follows(follow: (filter: Filter) => void): void {
		this.follow.push(follow);
		follow(this.context.state.filter);
	}

	/** A function's name to type. */
	private root(): HTMLElement {
		const input = el("input", { type: "text", spellcheck: "false" });
		this.follows(({ root }) => (input.value = root ?? ""));
		input.addEventListener("change", () => this.context.dispatch({ type: "filter", set: { root: input.value } }));
		return el("label.line", { "data-tip": "The call tree begins at this function." }, el("span", {}, "Root"), input);
	}

	private flag(label: string, tip: string, is: (filter: Filter) => boolean, set: (is: boolean) => Change): HTMLElement {
		const box = el("input", { type: "checkbox" });
		this.follows((filter) => (box.checked = is(filter)));
		box.addEventListener("change", () => this.context.dispatch({ type: "filter", set: set(box.checked) }));
		return el("label.line", { "data-tip": tip }, box, label);
	}

	private choices(): HTMLElement {
		const { session: { processes, modules, views } } = this.context;
		this.follow = [];
		const threads = processes.flatMap((process) =>
			process.threads.map((thread): [number, string] => [thread.id, `${thread.name || "thread"} ${thread.id} · ${process.name}`]),
		);
		return el(
			"div.filters",
			{},
			this.flag("Just my code", "Fold the system's code into what called it.",
				(filter) => !!filter.just_my_code, (is) => ({ just_my_code: is })),
			views.some(({ name }) => name === "waits") && this.flag("All waits count", "Waits for work, for children and for a processor, too.",
				(filter) => filter.waits === "all", (is) => ({ waits: is ? "all" : undefined })),
			this.root(),
			this.boxes("Processes", processes.map((p): [number, string] => [p.id, `${p.name} (${p.id})`]), "process"),
			this.boxes("Threads", threads, "thread"),
			this.boxes("Modules", modules.map((name): [string, string] => [name, name]), "module"),
		);
	}
}
