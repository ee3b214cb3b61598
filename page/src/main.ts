/* Puts the page together: head, timeline, tabs, tools, the current view, foot. */
import { Client } from "./client.ts";
import { button, el, fill, refill } from "./dom.ts";
import { pageEngine, Server } from "./engine.ts";
import { Filters } from "./filters.ts";
import { Foot } from "./foot.ts";
import { Header } from "./header.ts";
import { Help } from "./help.ts";
import { watchKeys } from "./keys.ts";
import { follow, handsOff } from "./live.ts";
import { CallersPanel } from "./panel-callers.ts";
import { FlamePanel } from "./panel-flame.ts";
import { SourcePanel } from "./panel-source.ts";
import { SummaryPanel } from "./panel-summary.ts";
import { TablePanel } from "./panel-table.ts";
import { same, viewInfo, type Context, type Panel } from "./panel.ts";
import type { Rows, Session } from "./protocol.ts";
import { Question } from "./question.ts";
import { makeSession, viewTitle } from "./session.ts";
import { initialState, type State } from "./state.ts";
import { Store } from "./store.ts";
import { Timeline } from "./timeline.ts";
import { watchTips } from "./tips.ts";

/** Views that others hold, or that need no tab of their own. */
const WITHIN = new Set(["function"]);

class Page {
	private readonly panels = new Map<string, Panel>();
	private readonly tabs = el("nav.tabs", { role: "tablist", "aria-label": "Views" });
	private readonly tools = el("div.tools", { role: "toolbar", "aria-label": "Tools of this view" });
	private readonly place = el("main", { id: "view" });
	private readonly header: Header;
	private readonly filters: Filters;
	private readonly timeline: Timeline;
	private readonly help = new Help();
	private readonly facts: Question<Rows>;

	constructor(
		root: HTMLElement,
		private readonly context: Context,
		private readonly views: string[],
		foot: Foot,
	) {
		this.header = new Header(context, () => this.help.open());
		this.filters = new Filters(context);
		this.timeline = new Timeline(context);
		this.facts = new Question<Rows>(context.client, foot, ({ session }) => foot.facts(session ?? {}));
		fill(root, this.header.element, this.timeline.element, this.tabs,
			el("div.bar-of-tools", {}, this.filters.element, this.tools), this.place, foot.element, this.help.element);
		this.makeTabs();
		this.tabs.addEventListener("keydown", (event) => this.tabKey(event));
		watchKeys({
			help: () => this.help.open(),
			search: () => this.header.focusSearch(),
			filter: () => this.filters.open(),
			clear: () => context.dispatch({ type: "clear" }),
			threads: () => context.dispatch({ type: "threads" }),
			view: (step, to) => this.go(step, to),
			panel: () => this.panels.get(context.state.view),
		});
	}

	private makeTabs(): void {
		fill(this.tabs, ...this.views.map((name) => button(viewTitle(name), () => this.context.dispatch({ type: "view", view: name }), {
			role: "tab", id: `tab-${name}`, "aria-controls": "view", tabindex: -1,
		})));
	}

	private tabKey(event: KeyboardEvent): void {
		const step = event.key === "ArrowRight" ? 1 : event.key === "ArrowLeft" ? -1 : 0;
		if (!step) return;
		this.go(step);
		this.tabs.querySelector<HTMLElement>('[aria-selected="true"]')?.focus();
		event.preventDefault();
		event.stopPropagation();
	}

	private go(step: number, to?: number): void {
		const at = this.views.indexOf(this.context.state.view);
		const view = this.views[to ?? (at + step + this.views.length) % this.views.length];
		if (view) this.context.dispatch({ type: "view", view });
	}

	mark(range: readonly [number, number] | undefined): void {
		this.timeline.mark(range);
	}

	private panel(name: string): Panel {
		let panel = this.panels.get(name);
		if (!panel) this.panels.set(name, (panel = makePanel(this.context, name)));
		return panel;
	}

	/** Marks the tab of @view. */
	private choose(view: string): void {
		for (const tab of this.tabs.children) {
			const is = tab.id === `tab-${view}`;
			tab.setAttribute("aria-selected", String(is));
			(tab as HTMLElement).tabIndex = is ? 0 : -1;
			if (is) tab.scrollIntoView({ block: "nearest", inline: "nearest" });
		}
		this.place.setAttribute("aria-labelledby", `tab-${view}`);
	}

	show(state: State, before: State | undefined): void {
		const panel = this.panel(state.view);
		const isOther = this.place.firstElementChild !== panel.element;
		if (isOther) {
			this.mark(undefined);
			fill(this.place, panel.element);
			this.choose(state.view);
		}
		// A sheet stays as it is while somebody is at it.
		if (isOther || !this.tools.querySelector(".sheet:not([hidden])")) refill(this.tools, ...panel.tools());
		this.header.show(state);
		this.ask(state, panel);
		this.filters.show(state);
		if (isOther && before) panel.focus();
	}

	/** Asks for all that is seen. */
	private ask(state: State, panel: Panel): void {
		// What is looked at comes first.
		panel.show(state);
		this.timeline.show(state);
		// What there is altogether under these filters.
		this.facts.ask({ op: "rows", view: "functions", filter: state.filter, columns: ["function_name"], from: 0, count: 1 });
	}

	/** Shows the same of a newer reading of the session. Panels of views that are as they were stay. */
	renew(session: Session): void {
		const { context } = this;
		const views = session.views.map((view) => {
			const old = viewInfo(context.session, view.name);
			if (old && same(old, view)) return old;
			this.panels.delete(view.name);
			return view;
		});
		Object.assign(context.session, session, { views });
		const names = tabNames(context.session);
		if (!same(names, this.views)) {
			this.views.splice(0, this.views.length, ...names);
			this.makeTabs();
			this.choose(context.state.view);
		}
		this.header.renew();
		const panel = this.panels.get(context.state.view);
		if (panel && this.place.firstElementChild === panel.element) this.ask(context.state, panel);
		else this.show(context.state, undefined);
	}

	/** Says how it is with the recording. */
	say(words: string, isLive: boolean): void {
		this.header.say(words, isLive);
	}
}

function tabNames(session: Session): string[] {
	const names = session.views.map((view) => view.name).filter((name) => !WITHIN.has(name));
	names.splice(Math.max(0, names.indexOf("summary")) + 1, 0, "flame");
	return names;
}

function makePanel(context: Context, name: string): Panel {
	const info = viewInfo(context.session, name);
	if (name === "summary") return new SummaryPanel(context);
	if (name === "flame" || !info) return new FlamePanel(context);
	if (name === "callers") return new CallersPanel(context);
	if (name === "lines" || name === "instructions") return new SourcePanel(context, info);
	return new TablePanel(context, info);
}

async function start(root: HTMLElement): Promise<void> {
	const engine = pageEngine();
	const client = new Client(engine);
	if (engine instanceof Server) client.renew((await engine.look()).reading);
	const session = makeSession(await client.ask({ op: "open" }));
	const views = tabNames(session);
	const store = new Store(initialState("summary", session.measures[0]?.id ?? ""), views);
	const foot = new Foot(session, engine instanceof Server);
	const context: Context = {
		session,
		client,
		get state() {
			return store.state;
		},
		dispatch: (action) => store.dispatch(action),
		mark: (range) => page.mark(range),
		report: (message) => foot.say(message),
	};
	client.onbusy = (busy) => foot.busy(busy);
	client.calm = handsOff;
	watchTips();
	const page = new Page(root, context, views, foot);
	store.listen((state, before) => page.show(state, before));
	page.show(store.state, undefined);
	if (engine instanceof Server) await follow(engine, context, page);
}

const root = document.getElementById("page")!;
start(root).catch((error: Error) => {
	fill(root, el("p.opening", { role: "alert" }, `The recording cannot be opened: ${error.message}`));
});
