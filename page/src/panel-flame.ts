/* The flame graph: what is asked of the engine for it, its tools, keys and words. */
import { announce, button, el, fill, placeIn, select } from "./dom.ts";
import { FlameCanvas } from "./flame-canvas.ts";
import { makePalette, modulesByWeight, type Palette } from "./flame-colors.ts";
import { ancestors, find, layOut, nodeAt, pathOf, type Box, type Found } from "./flame-layout.ts";
import { amount, percent } from "./format.ts";
import { goToFunction } from "./function-actions.ts";
import { shorten, tipOf } from "./names.ts";
import type { Context, Panel } from "./panel.ts";
import type { Flame, Measure, Rows } from "./protocol.ts";
import { Question } from "./question.ts";
import type { FlameColor, FlameOrder } from "./state.ts";
import { isDark, onTheme } from "./theme.ts";
import { hideTip, showTip } from "./tips.ts";

const LEGEND_MAX = 6;

export class FlamePanel implements Panel {
	readonly element: HTMLElement;
	private readonly canvas = new FlameCanvas();
	private readonly line = el("div.flame-line", { role: "status" });
	private readonly legend = el("div.legend");
	/** The graph of all, and of what is zoomed to. */
	private readonly all: Question<Flame>;
	private readonly zoomed: Question<Flame>;
	private base: Flame | undefined;
	private detail: Flame | undefined;
	private rows: Box[][] = [];
	private palette: Palette | undefined;
	private found = new Map<Flame, Found>();
	private current: Box | undefined;
	/** The reading that the graph is of, and what was zoomed to in the one before. */
	private reading = -1;
	private zoomPath: string[] | undefined;

	constructor(private readonly context: Context) {
		this.element = el(
			"div.flame-panel",
			{ tabindex: 0, role: "group", "aria-roledescription": "flame graph", "aria-label": "Flame graph: arrow keys go from frame to frame. The call tree has the same as a table." },
			el("div.flame-foot", {}, this.line, this.legend),
			this.canvas.element,
		);
		const place = placeIn(this.element);
		this.all = new Question<Flame>(context.client, place, (graph, isRenewed) => this.arrived(graph, isRenewed), () => this.forget());
		// What is there stays until there is more of it.
		const within = { ...place, waits() {}, arrived: () => this.all.waits || place.arrived() };
		this.zoomed = new Question<Flame>(context.client, within, (graph) => {
			this.detail = graph;
			this.draw();
		}, () => (this.detail = undefined));
		this.canvas.onhover = (box, event) => this.hover(box, event);
		this.canvas.onpick = (box) => this.pick(box);
		this.canvas.onresize = () => this.ask();
		this.element.addEventListener("keydown", (event) => this.keydown(event));
		onTheme(() => this.draw());
	}

	private get measure(): Measure {
		const { measures } = this.context.session;
		return measures.find((measure) => measure.id === this.context.state.flame.measure) ?? measures[0]!;
	}

	private get orders(): [FlameOrder, string][] {
		const all: [FlameOrder, string][] = [["weight", "heaviest first"], ["name", "by name"], ["time", "as first called"]];
		return this.context.session.method === "calls" ? all : all.slice(0, 2);
	}

	tools(): HTMLElement[] {
		const { context } = this;
		const { flame, inverted } = context.state;
		const tools: HTMLElement[] = [];
		const measures = context.session.measures.map((m): [string, string] => [m.id, m.title]);
		if (measures.length > 1)
			tools.push(select("Width", measures, flame.measure, (measure) => context.dispatch({ type: "flame", set: { measure } })));
		const colors: [FlameColor, string][] = [["module", "by module"], ["system", "by waits and system"]];
		if (context.session.measures.some(({ id }) => id === "inclusive_blocked_time"))
			tools.push(select("Colour", colors, flame.color, (color) => context.dispatch({ type: "flame", set: { color: color as FlameColor } })));
		tools.push(
			select("Order", this.orders, flame.order, (order) => context.dispatch({ type: "flame", set: { order: order as FlameOrder } })),
			button("Inverted", () => context.dispatch({ type: "invert" }), {
				"aria-pressed": String(inverted), "data-tip": "Functions with time of their own at the root, their callers behind. (i)",
			}),
			button(flame.up ? "Icicle" : "Flame", () => context.dispatch({ type: "flame", set: { up: !flame.up } }), {
				"data-tip": "Turn it upside down.",
			}),
			button("All", () => context.dispatch({ type: "zoom", node: 0 }), { "data-tip": "Zoom out to everything. (0)" }),
		);
		return tools;
	}

	show(): void {
		this.ask();
	}

	/** Asks for the graph of this state; while it comes the picture of the one before stays. */
	private ask(): void {
		const { state } = this.context;
		if (state.view !== "flame" || !this.element.clientWidth) return;
		const { filter, inverted, zoom, flame } = state;
		const width = Math.ceil(this.element.clientWidth / 320) * 320;
		// Links may ask for what another session has.
		const order = this.orders.some(([id]) => id === flame.order) ? flame.order : "weight";
		const request = {
			op: "flame", view: "calltree", filter, measure: this.measure.id, inverted, order, root: 0, min_share: 0.4 / width,
		};
		if (this.all.ask(request)) this.forget();
		if (!zoom) this.zoomed.forget();
		// Of another reading the node has another number, which the graph tells.
		else if (this.reading === this.context.client.reading || !this.base)
			if (this.zoomed.ask({ ...request, root: zoom }, undefined, { ...request, root: this.zoomPath ?? zoom })) this.detail = undefined;
		this.draw();
	}

	private arrived(graph: Flame, isRenewed: boolean): void {
		const { zoom } = this.context.state;
		const current = isRenewed && this.current?.graph === this.base ? pathOf(this.base!, this.current!.node) : undefined;
		this.base = graph;
		this.reading = this.context.client.reading;
		if (isRenewed && zoom && this.zoomPath) {
			const node = graph.nodes.id[nodeAt(graph, this.zoomPath)] ?? 0;
			if (node !== zoom) this.context.dispatch({ type: "renumber", node });
			else this.ask();
		}
		this.draw();
		if (!current) return;
		const at = nodeAt(graph, current);
		this.current = this.rows.flat().find((box) => box.graph === graph && box.node === at);
		this.draw();
	}

	/** Ids of nodes are those of one filter. */
	private forget(): void {
		this.base = this.detail = this.current = undefined;
		this.rows = [];
	}

	private draw(): void {
		const { base, detail } = this;
		if (!base || !this.canvas.width) return;
		const { flame, zoom, search } = this.context.state;
		const modules = modulesByWeight(base);
		const zoomedTo = zoom ? base.nodes.id.indexOf(zoom) : -1;
		if (this.reading === this.context.client.reading) this.zoomPath = zoomedTo >= 0 ? pathOf(base, zoomedTo) : undefined;
		this.palette = makePalette(isDark(), flame.color, modules);
		this.found = new Map();
		if (search) for (const graph of [base, detail]) if (graph) this.found.set(graph, find(graph, search));
		const at = this.current;
		this.rows = layOut(base, zoom, detail, this.canvas.width);
		this.current = at && this.rows.flat().find((box) => box.graph.nodes.id[box.node] === at.graph.nodes.id[at.node]);
		this.canvas.show({ rows: this.rows, palette: this.palette, found: this.found, up: flame.up, current: this.current });
		this.drawLegend(modules, flame.color);
		this.say();
	}

	private drawLegend(modules: readonly string[], color: FlameColor): void {
		const patch = (background: string, text: string) => {
			const box = el("i");
			box.style.background = background;
			return el("span", {}, box, text);
		};
		if (color === "system")
			return fill(this.legend, patch(this.palette!.system[0]!, "the program"), patch(this.palette!.system[4]!, "half"),
				patch(this.palette!.system[8]!, "waits and system"));
		const all = modules.filter(Boolean);
		const names = all.slice(0, LEGEND_MAX);
		fill(this.legend, ...names.map((name) => patch(this.palette!.module(name), shorten(name, 24))),
			all.length > LEGEND_MAX && el("span.quiet", {}, `and ${all.length - LEGEND_MAX} more`));
	}

	private amountOf(value: number): string {
		return amount(value, this.measure.kind, this.measure.id);
	}

	private share(value: number): string {
		const all = this.base?.total ?? 0;
		return all ? `${percent((100 * value) / all)} %` : "";
	}

	/** One line about the graph: what it is of, what is too small, what the search found. */
	private say(): void {
		const graph = this.detail ?? this.base!;
		const parts = [`${this.measure.title}: ${this.amountOf(this.base!.total)}`];
		if (this.detail) parts.push(`zoomed to ${this.share(this.detail.total)} of it`);
		const found = this.base && this.found.get(this.base);
		if (found) parts.push(`${found.frames} frames found, with ${percent(100 * found.share)} % of all (n: next)`);
		if (graph.cut_share > 0) parts.push(`${percent(100 * graph.cut_share)} % is too small to draw`);
		this.line.textContent = parts.join(" · ");
	}

	private words(box: Box): string[] {
		const { nodes, names, modules } = box.graph;
		const value = nodes.value[box.node]!;
		const self = nodes.self[box.node] ?? 0;
		const blocked = nodes.blocked[box.node] ?? 0;
		const lines = [
			tipOf(names[nodes.name[box.node]!] ?? ""),
			tipOf(modules[nodes.module[box.node]!] ?? ""),
			`${this.amountOf(value)}, ${this.share(value)} of all`,
			`${this.amountOf(self)} of its own (${this.share(self)})`,
		];
		if (blocked) lines.push(`${percent((100 * blocked) / value)} % of it in waits and the system`);
		return lines;
	}

	private hover(box: Box | undefined, event: MouseEvent): void {
		if (box) showTip(this.words(box).join("\n"), event.clientX, event.clientY);
		else hideTip();
	}

	private pick(box: Box): void {
		this.element.focus({ preventScroll: true });
		const id = box.graph.nodes.id[box.node]!;
		this.current = box;
		hideTip();
		this.context.dispatch({ type: "zoom", node: box.graph === this.base && box.node === 0 && box.width >= this.canvas.width ? 0 : id });
	}

	private go(box: Box | undefined): void {
		if (!box) return;
		this.current = box;
		this.canvas.show({ rows: this.rows, palette: this.palette!, found: this.found, up: this.context.state.flame.up, current: box });
		this.canvas.reveal(box);
		const words = this.words(box);
		this.line.textContent = words.join(" · ");
		announce(words.join(", "));
	}

	private neighbour(key: string): Box | undefined {
		const at = this.current ?? this.rows[0]?.[0];
		if (!at || !this.current) return at;
		const row = this.rows[at.row]!;
		const deeper = this.context.state.flame.up ? "ArrowUp" : "ArrowDown";
		if (key === "ArrowLeft") return row[row.indexOf(at) - 1];
		if (key === "ArrowRight") return row[row.indexOf(at) + 1];
		const middle = at.x + at.width / 2;
		if (key === deeper) {
			const below = this.rows[at.row + 1]?.filter((box) => box.x >= at.x - 0.01 && box.x < at.x + at.width);
			return below?.reduce<Box | undefined>((best, box) => (!best || box.width > best.width ? box : best), undefined);
		}
		return this.rows[at.row - 1]?.find((box) => box.x <= middle && middle <= box.x + box.width);
	}

	private nextFound(step: number): Box | undefined {
		const all = this.rows.flat().filter((box) => this.found.get(box.graph)?.isName[box.graph.nodes.name[box.node]!]);
		if (!all.length) return undefined;
		const at = this.current ? all.indexOf(this.current) : -1;
		return all[(at + step + all.length) % all.length];
	}

	/** To the callers of the function of @box. Several may have its name: the tree knows which one it is. */
	private async callers({ graph, node }: Box): Promise<void> {
		const { filter, inverted } = this.context.state;
		const id = graph.nodes.id[node]!;
		const parents = [graph, this.base!].map(({ nodes }) => nodes.id[ancestors(nodes, nodes.id.indexOf(id)).pop() ?? -1] ?? 0);
		const request = { op: "tree", view: "calltree", filter, inverted, node: parents.find(Boolean) ?? 0, columns: ["function_name"], reading: this.reading };
		try {
			const { ids, functions } = await this.context.client.ask<Rows>(request);
			const fn = graph.names[graph.nodes.name[node]!]!;
			goToFunction(this.context, "callers", { fn, fnId: functions?.[ids.indexOf(id)] ?? 0 });
		} catch (error) {
			this.context.report((error as Error).message);
		}
	}

	private keydown(event: KeyboardEvent): void {
		if (event.ctrlKey || event.metaKey || event.altKey) return;
		if (event.key.startsWith("Arrow")) this.go(this.neighbour(event.key));
		else if (event.key === "Enter" && this.current) this.pick(this.current);
		else if (["Escape", "Backspace", "0"].includes(event.key)) this.context.dispatch({ type: "zoom", node: 0 });
		else if (event.key === "n" || event.key === "N") this.go(this.nextFound(event.key === "n" ? 1 : -1));
		else if (event.key === " " && this.current) void this.callers(this.current);
		else return;
		event.preventDefault();
		event.stopPropagation();
	}

	key(event: KeyboardEvent): boolean {
		if (event.key !== "i") return false;
		this.context.dispatch({ type: "invert" });
		return true;
	}

	focus(): void {
		this.element.focus({ preventScroll: true });
	}
}
