/*
 * A table that draws only the rows in sight: a million rows cost what fifty do. The first column,
 * the name, stays in place when the others are scrolled sideways.
 */
import { cellNode, headCell, sortedColumn, type GridColumn } from "./cells.ts";
import { el, fill } from "./dom.ts";
import type { Row, Source } from "./source.ts";
import type { Sort } from "./state.ts";

const ROW_PX = 24;
/** Browsers lay out nothing higher than some 16 million pixels; longer tables scroll in larger steps. */
const HEIGHT_MAX = 8_000_000;
const SPARE_ROWS = 6;

interface GridOptions {
	label: string;
	isTree: boolean;
	onsort?: (sort: Sort) => void;
	/** A row was chosen: Enter, or a click on its name. */
	onchoose?: (row: Row) => void;
	/** The row at hand has changed. */
	onselect?: (row: Row | undefined) => void;
	ontoggle?: (i: number, open: boolean) => Promise<void>;
	/** A key the table itself does not know; true = it was used. */
	onkey?: (event: KeyboardEvent, i: number) => boolean;
}

let made = 0;

export class Grid {
	readonly element: HTMLElement;
	private readonly head = el("div.grid-head", { role: "row" });
	private readonly body = el("div.grid-body", { role: "rowgroup" });
	private readonly drawn = new Map<number, HTMLElement>();
	private source: Source | undefined;
	private columns: GridColumn[] = [];
	private sort: Sort | undefined;
	private highlight = "";
	private current = 0;
	private frame = 0;
	/** Where it was scrolled to: who is taken out of the page forgets it. */
	private scrolled = 0;
	/** Of the ids of its rows. */
	private readonly prefix = `grid-${++made}`;

	constructor(private readonly options: GridOptions) {
		this.element = el(
			"div.grid",
			{ role: options.isTree ? "treegrid" : "grid", tabindex: 0, "aria-label": options.label },
			this.head,
			this.body,
		);
		this.element.addEventListener("scroll", () => {
			this.scrolled = this.element.scrollTop;
			this.drawSoon();
		}, { passive: true });
		this.element.addEventListener("keydown", (event) => this.key(event));
		this.body.addEventListener("mousedown", (event) => this.press(event));
		this.body.addEventListener("click", (event) => this.click(event));
		this.body.addEventListener("dblclick", (event) => this.doubleClick(event));
		new ResizeObserver(() => this.redraw()).observe(this.element);
	}

	/** The row at hand. */
	get selected(): number {
		return this.current;
	}

	get selectedRow(): Row | undefined {
		return this.source?.row(this.current);
	}

	/** Rows that are seen, and the one at hand. */
	get sight(): number[] {
		return [...this.drawn.keys(), this.current];
	}

	/** Shows @source; with @keep where it was scrolled to, and row @at chosen, -1 = the one that was. */
	show(source: Source, columns: GridColumn[], sort: Sort | undefined, highlight: string, keep: boolean, at = -1): void {
		this.source = source;
		this.columns = columns;
		this.sort = sort;
		this.highlight = highlight;
		source.onchange = () => this.redraw();
		const tracks = columns.map(({ least, grows }) => (grows ? `minmax(${least}px, ${grows}fr)` : `${least}px`));
		this.element.style.setProperty("--columns", tracks.join(" "));
		this.element.style.setProperty("--least", `${columns.reduce((sum, column) => sum + column.least, 0)}px`);
		this.drawHead();
		if (!keep) this.scrolled = this.current = 0;
		else if (at >= 0) this.current = at;
		this.redraw();
		this.element.scrollTop = this.scrolled;
		this.draw();
		this.options.onselect?.(this.selectedRow);
	}

	/** Marks @highlight in all texts. */
	mark(highlight: string): void {
		this.highlight = highlight;
		this.redraw();
	}

	/** There is nothing to show. */
	clear(): void {
		this.source = undefined;
		this.redraw();
	}

	private drawHead(): void {
		const at = sortedColumn(this.columns, this.sort);
		const cells = this.columns.map((column, i) => headCell(column, i, column.id === at ? this.sort : undefined));
		this.columns.forEach((column, i) => {
			const onsort = this.options.onsort;
			if (onsort && column.sorts) cells[i]!.addEventListener("click", () => onsort(this.nextSort(column)));
		});
		fill(this.head, ...cells);
	}

	/** A second click turns the order round; numbers begin with the largest. */
	nextSort(column: GridColumn): Sort {
		const is = column.id === sortedColumn(this.columns, this.sort);
		return { column: column.id, descending: is ? !this.sort!.descending : column.falls };
	}

	/** Height of all rows, and of what stands for them. */
	private heights(): { full: number; shown: number; sight: number } {
		const full = (this.source?.total ?? 0) * ROW_PX;
		const sight = Math.max(ROW_PX, this.element.clientHeight - this.head.offsetHeight);
		return { full, shown: Math.min(full, HEIGHT_MAX), sight };
	}

	/** Where in all rows the top edge is. */
	private top(): number {
		const { full, shown, sight } = this.heights();
		const range = shown - sight;
		return range > 0 ? (this.element.scrollTop / range) * (full - sight) : 0;
	}

	private drawSoon(): void {
		this.frame ||= requestAnimationFrame(() => {
			this.frame = 0;
			this.draw();
		});
	}

	redraw(): void {
		for (const row of this.drawn.values()) row.remove();
		this.drawn.clear();
		this.draw();
	}

	private draw(): void {
		if (!this.source) return;
		const { shown, sight } = this.heights();
		const total = this.source.total;
		this.current = Math.max(0, Math.min(this.current, total - 1));
		this.body.style.height = `${shown}px`;
		this.element.setAttribute("aria-rowcount", String(total + 1));
		const top = Math.min(this.top(), Math.max(0, total * ROW_PX - sight));
		const first = Math.max(0, Math.floor(top / ROW_PX) - SPARE_ROWS);
		const last = Math.min(total, Math.ceil((top + sight) / ROW_PX) + SPARE_ROWS);
		for (const [i, row] of this.drawn)
			if (i < first || i >= last) {
				row.remove();
				this.drawn.delete(i);
			}
		const shift = this.element.scrollTop - top;
		for (let i = first; i < last; i++) {
			let row = this.drawn.get(i);
			if (!row) this.drawn.set(i, (row = this.body.appendChild(this.makeRow(i))));
			row.style.transform = `translateY(${Math.round(i * ROW_PX + shift)}px)`;
		}
		this.markCurrent();
	}

	private makeRow(i: number): HTMLElement {
		const row = this.source!.row(i);
		const element = el("div.grid-row", { role: "row", id: `${this.prefix}-${i}`, "aria-rowindex": i + 2 });
		element.dataset.row = String(i);
		if (!row) {
			element.classList.add("coming");
			return element;
		}
		if (this.options.isTree) {
			element.setAttribute("aria-level", String(row.level + 1));
			if (row.hasChildren) element.setAttribute("aria-expanded", String(row.isOpen));
		}
		this.columns.forEach((column, at) => {
			element.append(cellNode(column, row, at === 0, this.options.isTree, this.source!.max, this.highlight));
		});
		return element;
	}

	private markCurrent(): void {
		for (const [i, row] of this.drawn) {
			row.classList.toggle("current", i === this.current);
			row.setAttribute("aria-selected", String(i === this.current));
		}
		if (this.drawn.has(this.current)) this.element.setAttribute("aria-activedescendant", `${this.prefix}-${this.current}`);
		else this.element.removeAttribute("aria-activedescendant");
	}

	/** Goes to row @i and brings it into sight, or to the middle of it. */
	select(i: number, toMiddle = false): void {
		const total = this.source?.total ?? 0;
		this.current = Math.max(0, Math.min(i, total - 1));
		const { full, shown, sight } = this.heights();
		const top = this.top();
		const at = this.current * ROW_PX;
		const isInSight = at >= top && at + ROW_PX <= top + sight;
		const middle = Math.max(0, Math.min(full - sight, at - sight / 2));
		const to = toMiddle && !isInSight ? middle : at < top ? at : at + ROW_PX > top + sight ? at + ROW_PX - sight : top;
		if (to !== top && full > sight) this.element.scrollTop = (to / (full - sight)) * (shown - sight);
		this.draw();
		this.options.onselect?.(this.selectedRow);
	}

	private rowOf(event: Event): number | undefined {
		const row = (event.target as Element).closest<HTMLElement>(".grid-row");
		return row ? Number(row.dataset.row) : undefined;
	}

	private press(event: MouseEvent): void {
		const i = this.rowOf(event);
		if (i !== undefined) this.select(i);
	}

	private click(event: MouseEvent): void {
		const i = this.rowOf(event);
		const row = i === undefined ? undefined : this.source?.row(i);
		if (!row) return;
		const target = event.target as Element;
		if (target.closest(".twisty")) void this.options.ontoggle?.(i!, !row.isOpen);
		else if (target.closest(".name-text") && !String(getSelection())) this.options.onchoose?.(row);
	}

	private doubleClick(event: MouseEvent): void {
		const i = this.rowOf(event);
		const row = i === undefined ? undefined : this.source?.row(i);
		if (row && this.options.isTree && !(event.target as Element).closest(".twisty"))
			void this.options.ontoggle?.(i!, !row.isOpen);
	}

	/** In the order of the next column, or turned round, though its column be hidden. */
	private sortByKey(isNext: boolean): void {
		const { sort } = this;
		if (!isNext) return sort && this.options.onsort?.({ ...sort, descending: !sort.descending });
		const able = this.columns.filter((column) => column.sorts);
		const at = able.findIndex((column) => column.id === sortedColumn(this.columns, sort));
		const column = able[(at + 1) % able.length];
		if (column) this.options.onsort?.(this.nextSort(column));
	}

	private key(event: KeyboardEvent): void {
		if (event.ctrlKey || event.metaKey || event.altKey || event.target !== this.element) return;
		const page = Math.max(1, Math.floor(this.heights().sight / ROW_PX) - 1);
		const to: Record<string, number> = {
			ArrowDown: this.current + 1,
			ArrowUp: this.current - 1,
			PageDown: this.current + page,
			PageUp: this.current - page,
			Home: 0,
			End: Infinity,
			j: this.current + 1,
			k: this.current - 1,
		};
		const next = to[event.key];
		if (next !== undefined) this.select(next);
		else if (event.key === "Enter" && this.selectedRow) this.options.onchoose?.(this.selectedRow);
		else if (event.key === "s" || event.key === "r") this.sortByKey(event.key === "s");
		else if (!this.options.onkey?.(event, this.current)) return;
		event.preventDefault();
		event.stopPropagation();
	}

	focus(): void {
		this.element.focus({ preventScroll: true });
	}
}
