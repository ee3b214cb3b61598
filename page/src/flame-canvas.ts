/* The flame graph's canvas: as large as what is in sight, whatever the graph is. */
import { el, sized } from "./dom.ts";
import { boxAt, type Box, type Found } from "./flame-layout.ts";
import type { Palette } from "./flame-colors.ts";
import { shorten } from "./names.ts";
import type { Flame } from "./protocol.ts";

const FRAME_PX = 19;
const TEXT_LEAST_PX = 34;
const PAD_PX = 4;
const FONT = '12px system-ui, -apple-system, "Segoe UI", "Noto Sans", sans-serif';

interface Picture {
	rows: Box[][];
	palette: Palette;
	/** What was searched for, in each graph of the picture; empty = nothing was. */
	found: Map<Flame, Found>;
	/** Roots below. */
	up: boolean;
	current: Box | undefined;
}

export class FlameCanvas {
	readonly element: HTMLElement;
	private readonly canvas = el("canvas");
	private readonly spacer = el("div.flame-space");
	private picture: Picture | undefined;
	private hover: Box | undefined;
	private readonly short = new Map<string, string>();
	private characterPx = 7;

	/** Told of the box below the pointer, and where that is. */
	onhover: (box: Box | undefined, event: MouseEvent) => void = () => {};
	onpick: (box: Box, event: MouseEvent) => void = () => {};
	onresize: () => void = () => {};

	constructor() {
		this.element = el("div.flame-scroll", {}, this.spacer, this.canvas);
		this.element.addEventListener("scroll", () => this.paint(), { passive: true });
		this.canvas.addEventListener("mousemove", (event) => this.move(event));
		this.canvas.addEventListener("mouseleave", (event) => this.move(event));
		this.canvas.addEventListener("click", (event) => {
			const box = this.at(event);
			if (box) this.onpick(box, event);
		});
		let width = 0;
		new ResizeObserver(() => {
			if (width !== this.width) this.onresize();
			else this.paint();
			width = this.width;
		}).observe(this.element);
	}

	get width(): number {
		return this.element.clientWidth;
	}

	show(picture: Picture): void {
		const isOther = this.picture?.rows !== picture.rows || this.picture.up !== picture.up;
		this.picture = picture;
		const height = picture.rows.length * FRAME_PX;
		this.spacer.style.height = `${height}px`;
		if (isOther && picture.up) this.element.scrollTop = height;
		this.paint();
	}

	/** Brings @box into sight. */
	reveal(box: Box): void {
		const y = this.y(box.row);
		const { scrollTop, clientHeight } = this.element;
		if (y < scrollTop) this.element.scrollTop = y;
		else if (y + FRAME_PX > scrollTop + clientHeight) this.element.scrollTop = y + FRAME_PX - clientHeight;
	}

	/** The upper edge of @row. Flames stand on the ground, icicles hang. */
	private y(row: number): number {
		if (!this.picture!.up) return row * FRAME_PX;
		const height = Math.max(this.picture!.rows.length * FRAME_PX, this.element.clientHeight);
		return height - (row + 1) * FRAME_PX;
	}

	private at(event: MouseEvent): Box | undefined {
		if (!this.picture) return undefined;
		const y = event.offsetY + this.element.scrollTop;
		const rows = this.picture.rows;
		const height = Math.max(rows.length * FRAME_PX, this.element.clientHeight);
		return boxAt(rows, Math.floor((this.picture.up ? height - y : y) / FRAME_PX), event.offsetX);
	}

	private move(event: MouseEvent): void {
		const box = event.type === "mouseleave" ? undefined : this.at(event);
		if (box !== this.hover) {
			this.hover = box;
			this.paint();
		}
		this.canvas.style.cursor = box ? "pointer" : "default";
		this.onhover(box, event);
	}

	private paint(): void {
		const { picture } = this;
		const { clientWidth, clientHeight, scrollTop } = this.element;
		if (!picture || !clientWidth) return;
		const to = sized(this.canvas, clientWidth, clientHeight);
		to.font = FONT;
		this.characterPx = to.measureText("abcdefghijklmnopqrstuvwxyz_:").width / 28;
		picture.rows.forEach((boxes, row) => {
			const y = this.y(row) - scrollTop;
			if (y > -FRAME_PX && y < clientHeight) for (const box of boxes) this.paintBox(to, box, y);
		});
	}

	private paintBox(to: CanvasRenderingContext2D, box: Box, y: number): void {
		const { palette, found, current } = this.picture!;
		const isFound = this.isFound(box);
		to.globalAlpha = box.isAncestor ? 0.55 : 1;
		to.fillStyle = isFound ? palette.found : found.size && !box.isAncestor ? palette.dimmed : palette.of(box.graph, box.node);
		const gap = box.width > 3 ? 1 : box.width > 1.5 ? 0.5 : 0;
		to.fillRect(box.x, y, Math.max(0.4, box.width - gap), FRAME_PX - 1);
		to.globalAlpha = 1;
		if (box === this.hover || box === current) {
			to.strokeStyle = palette.text;
			to.lineWidth = box === current ? 2 : 1;
			to.strokeRect(box.x + 1, y + 1, Math.max(1, box.width - gap - 2), FRAME_PX - 3);
		}
		if (box.width < TEXT_LEAST_PX) return;
		to.fillStyle = isFound ? palette.foundText : palette.text;
		to.save();
		to.beginPath();
		to.rect(box.x, y, box.width - gap - 2, FRAME_PX);
		to.clip();
		to.fillText(this.label(to, box), box.x + PAD_PX, y + FRAME_PX / 2);
		to.restore();
	}

	private isFound(box: Box): boolean {
		return !!this.picture!.found.get(box.graph)?.isName[box.graph.nodes.name[box.node]!];
	}

	/** The name, in as many characters as there is room for. */
	private label(to: CanvasRenderingContext2D, box: Box): string {
		const name = box.graph.names[box.graph.nodes.name[box.node]!] ?? "";
		const room = Math.floor(box.width - 2 * PAD_PX);
		const key = `${room} ${name}`;
		let text = this.short.get(key);
		if (text !== undefined) return text;
		let columns = Math.max(2, Math.floor(room / this.characterPx));
		text = shorten(name, columns);
		for (let tries = 3, width = to.measureText(text).width; width > room && tries; tries--) {
			columns = Math.max(2, Math.min(columns, text.length) - 1 - Math.floor((width - room) / this.characterPx));
			text = shorten(name, columns);
			width = to.measureText(text).width;
		}
		if (this.short.size > 20_000) this.short.clear();
		this.short.set(key, text);
		return text;
	}
}
