/* Views that are a table or a tree of rows. */
import { fateColumn, fateLegend, gridColumn, type GridColumn } from "./cells.ts";
import { chooseColumns } from "./columns.ts";
import { copyCsv } from "./csv.ts";
import { Overtaken } from "./client.ts";
import { button, el, placeIn } from "./dom.ts";
import { goToFunction } from "./function-actions.ts";
import { Grid } from "./grid.ts";
import { nameColumn, shownColumns, type Context, type Panel } from "./panel.ts";
import type { ViewInfo } from "./protocol.ts";
import { Question } from "./question.ts";
import { isExtra } from "./session.ts";
import { RowDetails } from "./row-details.ts";
import { identity, isInOrder, ListSource, nameOf, TreeSource, type Row, type Source } from "./source.ts";
import type { Sort, State } from "./state.ts";

/** Names stand far to the right in deep trees. */
const TREE_NAME_PX = 440;
/** Levels that one key opens below a row, and how many rows at the most. */
const OPEN_LEVELS = 6;
const OPEN_ROWS = 2000;

export class TablePanel implements Panel {
	readonly element: HTMLElement;
	private readonly grid: Grid;
	private readonly details: RowDetails;
	private readonly nameAt: number;
	private readonly openPaths = new Set<string>();
	private readonly question: Question<Source>;
	private source: Source | undefined;
	/** The one that is on its way, and the one that is drawn. */
	private coming: Source | undefined;
	private drawn: Source | undefined;
	private isFirst = true;

	constructor(
		private readonly context: Context,
		private readonly info: ViewInfo,
	) {
		this.nameAt = nameColumn(info.columns);
		this.details = new RowDetails(context, info);
		this.grid = new Grid({
			label: info.title,
			isTree: info.is_tree,
			onsort: (sort) => context.dispatch({ type: "sort", view: info.name, sort }),
			onchoose: (row) => this.choose(row),
			onselect: (row) => this.selected(row),
			ontoggle: (i, open) => this.toggle(i, open),
			onkey: (event, i) => this.treeKey(event, i),
		});
		this.element = el("div.table-panel", {}, this.grid.element, this.details.element);
		this.question = new Question<Source>(context.client, placeIn(this.element), (source, isRenewed) => this.arrived(source, isRenewed), () => this.drop());
	}

	private get isTree(): boolean {
		return this.info.is_tree;
	}

	/** The tree that is shown, as long as it is what was asked for. */
	private get tree(): TreeSource | undefined {
		return !this.question.waits && this.source instanceof TreeSource ? this.source : undefined;
	}

	private get isInSight(): boolean {
		return this.element.isConnected && !this.element.hidden;
	}

	tools(): HTMLElement[] {
		const tools: HTMLElement[] = [];
		if (this.isTree && this.info.name === "calltree")
			tools.push(
				button("Inverted", () => this.context.dispatch({ type: "invert" }), {
					"aria-pressed": String(this.context.state.inverted),
					"data-tip": "The functions with time of their own first, below each its callers. (i)",
				}),
				button("Hot path", () => void this.openHotPath(), { "data-tip": "Open the path with the most time. (h)" }),
			);
		if (this.info.name === "lifetime") tools.push(fateLegend());
		if (this.isTree) tools.push(button("Collapse", () => this.collapse(), { "data-tip": "Close all rows. (c)" }));
		tools.push(
			chooseColumns(this.context, this.info),
			button("Copy CSV", () => void this.copy(), {
				"data-tip": "Copy the table as CSV, with raw numbers.",
			}),
			button("Details", () => this.details.toggle(), { "data-tip": "All values of the row at hand. (d)" }),
		);
		return tools;
	}

	private columns(state: State): GridColumn[] {
		const total = Number(this.context.session.method.includes("sampling") ? this.samples : 0);
		const columns = shownColumns(this.info, state.tables[this.info.name]?.columns).map((id, i) => {
			const at = this.info.columns.findIndex((column) => column.id === id);
			return gridColumn(this.info.columns[at]!, at, i === 0, total);
		});
		if (this.isTree) columns[0]!.least = TREE_NAME_PX;
		const fate = this.info.name === "lifetime" ? fateColumn(this.info.columns) : undefined;
		if (fate) columns.splice(1, 0, fate);
		return columns;
	}

	/** Samples that percentages divide by, as far as an answer said so. */
	private samples = 0;

	private sortOf(state: State): Sort | undefined {
		const chosen = state.tables[this.info.name]?.sort;
		if (chosen && this.info.columns.some((column) => column.id === chosen.column)) return chosen;
		const column = this.info.columns.find((other) => other.id === this.info.sort);
		return column ? { column: column.id, descending: !!column.is_amount } : undefined;
	}

	/** The order that the table is seen to be in: a view's own may be by more than one column shows. */
	private markOf(state: State): Sort | undefined {
		const sort = this.sortOf(state);
		if (!sort || state.tables[this.info.name]?.sort) return sort;
		const at = this.info.columns.findIndex((column) => column.id === sort.column);
		return this.source && isInOrder(this.source, at, sort.descending) ? sort : undefined;
	}

	show(state: State): void {
		const sort = this.sortOf(state);
		// The view's own order is finer than that of one column, so it is not asked for by name.
		const isChosen = !!state.tables[this.info.name]?.sort;
		const order = sort && isChosen ? { sort: sort.column, descending: sort.descending } : {};
		const view = this.info.name;
		const wanted = [...(state.tables[view]?.columns ?? []), order.sort ?? ""].some(isExtra);
		const columns = this.info.columns.map((column) => column.id).filter((id) => wanted || !isExtra(id));
		const common = { view, filter: state.filter, columns, ...order };
		const request = this.isTree
			? { op: "tree" as const, ...common, inverted: state.inverted && view === "calltree" }
			: { op: "rows" as const, ...common, search: state.search.replace(/[A-Z]/g, (letter) => letter.toLowerCase()) };
		const isNew = this.question.ask(request, () => {
			const { client } = this.context;
			// Ids of nodes and numbers of rows are those of one reading.
			const source =
				request.op === "tree"
					? new TreeSource(client, { ...request, reading: client.reading }, nameOf(this.info.columns, this.nameAt), this.openPaths)
					: new ListSource(client, { ...request, reading: client.reading }, identity(this.info.columns), (error) => this.failed(error));
			this.coming?.abandon();
			this.coming = source;
			return source.open(this.question, this.source && this.grid.sight);
		});
		if (!isNew && !this.question.waits) this.draw(state);
	}

	private arrived(source: Source, isRenewed: boolean): void {
		const { selectedRow } = this.grid;
		this.source?.abandon();
		this.source = source;
		this.coming = undefined;
		if (source instanceof ListSource) this.samples = Number(source.session["samples_reported"] ?? 0);
		this.element.classList.toggle("empty", source.total === 0);
		// Else it is drawn when somebody looks at it again.
		if (isRenewed) this.drawn = source;
		const at = isRenewed && selectedRow ? source.find(selectedRow.path) : -1;
		if (this.isInSight) this.draw(this.context.state, at);
	}

	private drop(): void {
		this.source?.abandon();
		this.source = this.drawn = undefined;
		this.grid.clear();
		this.selected(undefined);
	}

	private readonly failed = (error: Error) => {
		if (!(error instanceof Overtaken)) this.context.report(error.message);
	};

	/** Row @at is to be chosen; -1 = the one that is, unless all is new. */
	private draw(state: State, at = -1): void {
		if (!this.source) return;
		const keep = this.drawn === this.source;
		this.drawn = this.source;
		this.grid.show(this.source, this.columns(state), this.markOf(state), state.search, keep, at);
		if (this.isFirst && this.info.name === "calltree") void this.openHotPath();
		this.isFirst = false;
	}

	private async copy(): Promise<void> {
		await this.question.settled();
		const columns = this.columns(this.context.state).filter((column) => !column.parts);
		this.context.report(this.source ? await copyCsv(this.source, columns) : "Nothing was copied");
	}

	private text(row: Row, id: string): string {
		const at = this.info.columns.findIndex((column) => column.id === id);
		return String(row.cells[at] ?? "");
	}

	/** Goes where the row leads: a function to its callers, a thread or process to a filter. */
	private choose(row: Row): void {
		const id = Number(this.text(row, "id"));
		if (this.info.name === "processes") this.context.dispatch({ type: "filter", set: { process: [id] } });
		else if (this.info.name === "modules" && row.level === 0)
			this.context.dispatch({ type: "filter", set: { module: [this.text(row, "name")] } });
		else if (this.info.name === "threads") this.context.dispatch({ type: "filter", set: { thread: [id] } });
		else {
			const name = this.text(row, "function_name");
			if (name && !name.startsWith("[")) goToFunction(this.context, "callers", { fn: name, fnId: row.fn });
		}
	}

	private selected(row: Row | undefined): void {
		this.details.show(row, this.source?.max ?? []);
		// The timeline marks rows of what is seen.
		if (this.isInSight) this.mark(row);
	}

	private mark(row: Row | undefined): void {
		const number = (id: string) => {
			const cell = row?.cells[this.info.columns.findIndex((column) => column.id === id)];
			return typeof cell === "number" ? cell : undefined;
		};
		const from = number("begin_time");
		const lasts = number(this.info.name === "gc" ? "pause_duration" : "elapsed_inclusive_time");
		const isEvent = this.info.name === "gc" || this.info.name === "slowest";
		const until = isEvent ? (from ?? 0) + (lasts ?? 0) : (number("end_time") ?? this.context.session.duration_ns);
		this.context.mark(from === undefined ? undefined : [from, until]);
	}

	private async toggle(i: number, open: boolean): Promise<void> {
		await this.tree?.toggle(i, open).catch(this.failed);
	}

	private async openBelow(i: number): Promise<void> {
		const isAll = await this.tree?.openBelow(i, OPEN_LEVELS, OPEN_ROWS).catch(this.failed);
		if (isAll === false) this.context.report(`There is more below it than the ${OPEN_ROWS} rows that were opened.`);
	}

	/** Its ids are those of one tree, which may be another by the time that they are here. */
	private async openHotPath(): Promise<void> {
		const { tree } = this;
		if (!tree) return;
		const { filter, inverted } = this.context.state;
		try {
			const { ids } = await this.context.client.ask<{ ids: number[] }>({ op: "hotpath", view: this.info.name, filter, inverted });
			if (this.tree !== tree) return;
			const row = await tree.openPath(ids);
			if (this.tree === tree) this.grid.select(row);
		} catch (error) {
			this.failed(error as Error);
		}
	}

	private collapse(): void {
		this.tree?.closeAll();
		this.grid.select(0);
	}

	private treeKey(event: KeyboardEvent, i: number): boolean {
		const { tree } = this;
		const row = tree?.row(i);
		if (!tree || !row) return false;
		if (event.key === "ArrowRight" && row.hasChildren && !row.isOpen) void this.toggle(i, true);
		else if (event.key === "ArrowRight") this.grid.select(i + 1);
		else if (event.key === "ArrowLeft" && row.isOpen) void this.toggle(i, false);
		else if (event.key === "ArrowLeft") this.grid.select(tree.parent(i));
		else if (event.key === "*") void this.openBelow(i);
		else if (event.key === " ") void this.toggle(i, !row.isOpen);
		else return false;
		return true;
	}

	key(event: KeyboardEvent): boolean {
		if (event.key === "d") this.details.toggle();
		else if (event.key === "h" && this.info.name === "calltree") void this.openHotPath();
		else if (event.key === "c" && this.isTree) this.collapse();
		else if (event.key === "i" && this.info.name === "calltree") this.context.dispatch({ type: "invert" });
		else return false;
		return true;
	}

	focus(): void {
		this.grid.focus();
	}
}
