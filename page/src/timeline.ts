/*
 * The recording over time: what ran and what waited. Dragging takes a range, which re-scopes every
 * view; below, if wanted, the same for each thread.
 */
import { announce, button, debounced, el, placeIn, sized } from "./dom.ts";
import { amount, duration } from "./format.ts";
import { shorten } from "./names.ts";
import { same, type Context } from "./panel.ts";
import type { Timeline as Data, TimelineThread } from "./protocol.ts";
import { Question } from "./question.ts";
import type { State } from "./state.ts";
import { cssColors, onTheme } from "./theme.ts";
import { isOneSpan, range, sums, threadsInWords, ticks, type Sums } from "./timeline-layout.ts";
import { hideTip, showTip } from "./tips.ts";

const SUM_PX = 46;
const AXIS_PX = 15;
const THREAD_PX = 17;
const GUTTER_PX = 150;
/** Without threads: room for the words beside the sum. */
const WORDS_PX = 78;
const MARGIN_PX = 12;
/** Of the sum: the part above, of what waits. */
const WAITS_PX = 14;
const LEAST_DRAG_PX = 4;
/** Of what is spread evenly, since nobody knows better. */
const EVEN_ALPHA = 0.3;
const BUCKETS_MAX = 600;
const BUCKETS_LEAST = 60;
/** Of short recordings: what happens in less is but chance. */
const BUCKET_LEAST_NS = 1e7;

function colorsNow() {
	return cssColors("running", "blocked", "quiet", "line", "veil", "accent", "text");
}

export class Timeline {
	readonly element: HTMLElement;
	private readonly canvas = el("canvas");
	private readonly scroll: HTMLElement;
	private readonly opener: HTMLButtonElement;
	private data: Data | undefined;
	private sums: Sums | undefined;
	private readonly question: Question<Data>;
	private drag: { from: number; to: number } | undefined;
	private pointer: number | undefined;
	private marked: readonly [number, number] | undefined;
	/** What is drawn: threads that have a row, where rows begin and how wide they are, in which colours. */
	private threads: TimelineThread[] = [];
	private left = WORDS_PX;
	private width = 1;
	private colors = colorsNow();

	constructor(private readonly context: Context) {
		this.opener = button("Threads", () => context.dispatch({ type: "threads" }), {
			"data-tip": "A row for each thread. (m)", "aria-pressed": "false",
		});
		this.scroll = el("div.timeline-scroll", {
			tabindex: 0, role: "group", "aria-roledescription": "timeline",
			"aria-label": "Timeline: arrow keys move the range of time that is shown, with Shift they widen it, Backspace shows all.",
		}, this.canvas);
		this.element = el("section.timeline", { "aria-label": "Timeline" }, this.scroll, this.opener);
		this.question = new Question<Data>(context.client, placeIn(this.element), (data) => this.arrived(data), () => (this.data = undefined));
		this.canvas.addEventListener("pointerdown", (event) => this.press(event));
		this.canvas.addEventListener("pointermove", (event) => this.move(event));
		this.canvas.addEventListener("pointerup", () => this.release());
		this.canvas.addEventListener("pointercancel", () => {
			this.drag = undefined;
			this.draw();
		});
		this.canvas.addEventListener("pointerleave", () => {
			this.pointer = undefined;
			hideTip();
			this.draw();
		});
		this.canvas.addEventListener("dblclick", () => this.set(undefined));
		this.scroll.addEventListener("keydown", (event) => this.key(event));
		new ResizeObserver(debounced(30, () => this.draw())).observe(this.scroll);
		onTheme(() => this.draw());
	}

	show(state: State): void {
		const { from: _from, until: _until, ...filter } = state.filter;
		const most = Math.ceil(this.context.session.duration_ns / BUCKET_LEAST_NS);
		const buckets = Math.max(BUCKETS_LEAST, Math.min(BUCKETS_MAX, most));
		this.opener.setAttribute("aria-pressed", String(state.threads));
		this.question.ask({ op: "timeline", filter, buckets }, undefined, { filter });
		this.draw();
	}

	private arrived(data: Data): void {
		this.data = data;
		this.sums = sums(data);
		this.opener.hidden = data.threads.length < 2;
		this.opener.textContent = threadsInWords(data);
		this.draw();
	}

	/** Shows when the row at hand was, until the next. */
	mark(range: readonly [number, number] | undefined): void {
		if (same(this.marked, range)) return;
		this.marked = range;
		this.draw();
	}

	private timeAt(x: number): number {
		const { from, until } = this.data!;
		const share = Math.max(0, Math.min(1, (x - this.left) / this.width));
		return from + share * (until - from);
	}

	private x(ns: number): number {
		const { from, until } = this.data!;
		return this.left + (until > from ? ((ns - from) / (until - from)) * this.width : 0);
	}

	private draw(): void {
		const { data } = this;
		const width = this.scroll.clientWidth;
		if (!data || !width) return;
		this.threads = this.context.state.threads && data.threads.length > 1 ? data.threads : [];
		this.left = this.threads.length ? GUTTER_PX : WORDS_PX;
		this.width = Math.max(1, width - this.left - (this.opener.hidden ? MARGIN_PX : this.opener.offsetWidth + 2 * MARGIN_PX));
		this.colors = colorsNow();
		const height = SUM_PX + AXIS_PX + this.threads.length * THREAD_PX;
		const to = sized(this.canvas, width, height);
		to.font = "11px system-ui, sans-serif";
		this.drawSums(to);
		this.drawAxis(to);
		this.threads.forEach((thread, i) => this.drawThread(to, thread, SUM_PX + AXIS_PX + i * THREAD_PX));
		this.drawRange(to, height);
	}

	/** What ran, and apart from it what waited, which is often so much more. */
	private drawSums(to: CanvasRenderingContext2D): void {
		const { running, blocked, runningMax, blockedMax } = this.sums!;
		const isTime = this.data!.unit === "ns";
		const top = blockedMax ? WAITS_PX + 3 : 4;
		const none: number[] = [];
		to.fillStyle = this.colors.quiet;
		const what = this.context.session.method === "calls" ? "program" : "processor";
		to.fillText(isTime ? what : this.data!.unit === "bytes" ? "allocated" : "samples", 12, (top + SUM_PX) / 2);
		if (blockedMax) {
			to.fillText("waiting", 12, 2 + WAITS_PX / 2);
			this.drawRow(to, none, blocked, blockedMax, 3, WAITS_PX - 3);
		}
		const isEven = this.data!.unit !== "count" && isOneSpan(this.sums!); // samples may differ by one
		if (isEven) to.globalAlpha = EVEN_ALPHA;
		this.drawRow(to, running, none, runningMax, top, SUM_PX - top);
		to.globalAlpha = 1;
		if (!isEven) return;
		to.fillStyle = this.colors.text;
		to.textAlign = "center";
		to.fillText("spread evenly: the recording has one sum for all of this time", this.left + this.width / 2, (top + SUM_PX) / 2);
		to.textAlign = "left";
	}

	/** Running from the ground, blocked on top of it. */
	private drawRow(to: CanvasRenderingContext2D, running: readonly number[], blocked: readonly number[], max: number, y: number, height: number): void {
		const n = Math.max(running.length, blocked.length);
		const each = this.width / Math.max(1, n);
		const colors = [this.colors.running, this.colors.blocked];
		// Whole pixels of the screen, or seams are seen.
		const edge = (i: number) => Math.round((this.left + i * each) * devicePixelRatio) / devicePixelRatio;
		for (let i = 0; i < n; i++) {
			let ground = y + height;
			[running[i] ?? 0, blocked[i] ?? 0].forEach((value, kind) => {
				if (!value || !max) return;
				const high = Math.max(0.5, (value / max) * height);
				to.fillStyle = colors[kind]!;
				to.fillRect(edge(i), ground - high, edge(i + 1) - edge(i), high);
				ground -= high;
			});
		}
	}

	private drawAxis(to: CanvasRenderingContext2D): void {
		const { from, until } = this.data!;
		to.fillStyle = this.colors.quiet;
		to.strokeStyle = this.colors.line;
		for (const at of ticks(from, until, this.width)) {
			const x = Math.round(this.x(at)) + 0.5;
			to.beginPath();
			to.moveTo(x, SUM_PX);
			to.lineTo(x, SUM_PX + 4);
			to.stroke();
			if (x + 50 < this.scroll.clientWidth) to.fillText(at ? duration(at) : "0", x + 3, SUM_PX + AXIS_PX / 2 + 1);
		}
	}

	private drawThread(to: CanvasRenderingContext2D, thread: TimelineThread, y: number): void {
		const max = this.data!.unit === "ns"
			? (this.data!.until - this.data!.from) / Math.max(1, thread.running.length)
			: Math.max(...thread.running, 1);
		to.fillStyle = this.colors.quiet;
		const name = `${thread.name || "thread"} ${thread.id}`;
		to.fillText(shorten(name, 22), MARGIN_PX, y + THREAD_PX / 2);
		this.drawRow(to, thread.running, thread.blocked, max, y + 1, THREAD_PX - 3);
	}

	private shownRange(): [number, number] | undefined {
		const { filter } = this.context.state;
		if (this.drag) return [Math.min(this.drag.from, this.drag.to), Math.max(this.drag.from, this.drag.to)];
		if (filter.from === undefined && filter.until === undefined) return undefined;
		return [filter.from ?? this.data!.from, filter.until ?? this.data!.until];
	}

	private drawRange(to: CanvasRenderingContext2D, height: number): void {
		const shown = this.shownRange();
		if (shown) {
			const [a, b] = [this.x(shown[0]), this.x(shown[1])];
			to.fillStyle = this.colors.veil;
			to.fillRect(this.left, 0, a - this.left, height);
			to.fillRect(b, 0, this.left + this.width - b, height);
			to.fillStyle = this.colors.accent;
			to.fillRect(a - 1, 0, 2, height);
			to.fillRect(b - 1, 0, 2, height);
		}
		if (this.marked) {
			const [a, b] = [this.x(this.marked[0]), this.x(this.marked[1])];
			to.fillStyle = this.colors.accent;
			to.fillRect(a, SUM_PX, Math.max(2, b - a), 3);
			to.globalAlpha = 0.16;
			to.fillRect(a, 0, Math.max(2, b - a), SUM_PX);
			to.globalAlpha = 1;
		}
		if (this.pointer === undefined) return;
		to.fillStyle = this.colors.quiet;
		to.fillRect(Math.round(this.pointer), 0, 1, height);
	}

	private press(event: PointerEvent): void {
		if (!this.data || event.button) return;
		this.canvas.setPointerCapture(event.pointerId);
		const at = this.timeAt(event.offsetX);
		const shown = this.shownRange();
		const near = shown?.findIndex((ns) => Math.abs(this.x(ns) - event.offsetX) < 5) ?? -1;
		// An edge of the range is taken along; elsewhere a new one begins.
		this.drag = { from: near >= 0 ? shown![1 - near]! : at, to: at };
	}

	private move(event: PointerEvent): void {
		if (!this.data) return;
		this.pointer = event.offsetX;
		if (this.drag) this.drag.to = this.timeAt(event.offsetX);
		this.draw();
		this.tip(event);
	}

	private tip(event: PointerEvent): void {
		const ns = this.timeAt(event.offsetX);
		if (this.drag) return showTip(`${duration(Math.abs(this.drag.to - this.drag.from))}`, event.clientX, event.clientY);
		const row = Math.floor((event.offsetY - SUM_PX - AXIS_PX) / THREAD_PX);
		const thread = row >= 0 ? this.threads[row] : undefined;
		const { running, blocked } = thread ?? this.sums!;
		const i = Math.min(running.length - 1, Math.floor(((event.offsetX - this.left) / this.width) * running.length));
		if (i < 0) return hideTip();
		const bucket = (this.data!.until - this.data!.from) / running.length;
		const words = (value: number, what: string) =>
			this.data!.unit === "ns"
				? `${what}: ${duration(value)} of ${duration(bucket)} (${(value / bucket).toFixed(2)} threads)`
				: `${what}: ${amount(value, "count", this.data!.unit)}`;
		const lines = [`at ${duration(ns)}${thread ? ` · ${thread.name} ${thread.id}` : ""}`];
		lines.push(words(running[i]!, this.data!.unit === "ns" ? "running" : this.data!.unit));
		if (blocked[i]) lines.push(words(blocked[i]!, "waiting"));
		showTip(lines.join("\n"), event.clientX, event.clientY);
	}

	private release(): void {
		const { drag, data } = this;
		this.drag = undefined;
		if (!drag || !data) return;
		const least = ((data.until - data.from) * LEAST_DRAG_PX) / this.width;
		const chosen = range(drag.from, drag.to, data.from, data.until, least);
		if (chosen) this.set(chosen);
		else this.draw();
	}

	private set(chosen: [number, number] | undefined): void {
		this.context.dispatch({ type: "filter", set: { from: chosen?.[0], until: chosen?.[1] } });
		announce(chosen ? `from ${duration(chosen[0])} until ${duration(chosen[1])}` : "all of the time");
	}

	private key(event: KeyboardEvent): void {
		const { data } = this;
		if (!data || event.ctrlKey || event.metaKey || event.altKey) return;
		const span = data.until - data.from;
		const [a, b] = this.shownRange() ?? [data.from, data.until];
		const step = (event.key === "ArrowLeft" ? -1 : 1) * span * 0.02;
		if (event.key === "Backspace") this.set(undefined);
		else if (!event.key.startsWith("Arrow") || event.key === "ArrowUp" || event.key === "ArrowDown") return;
		else if (event.shiftKey) this.set(range(a, b + step, data.from, data.until, 1));
		else if (b - a >= span) this.set(range(data.from, data.from + span / 2, data.from, data.until, 1));
		else {
			const by = Math.max(data.from - a, Math.min(step, data.until - b));
			this.set(range(a + by, b + by, data.from, data.until, 1));
		}
		event.preventDefault();
		event.stopPropagation();
	}
}
