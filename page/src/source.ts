/* Where a table's rows come from: windows of a long list, or a tree of which parts are open. */
import { Overtaken, type Client } from "./client.ts";
import type { Cell, Column, Rows, RowsRequest, TreeRows } from "./protocol.ts";

export interface Row {
	id: number;
	cells: Cell[];
	/** The function it is about, 0 = none. */
	fn: number;
	/** What it is called: the same row of another reading has it, too. */
	path: string;
	/** In trees: how deep, and whether there is something to open. */
	level: number;
	hasChildren: boolean;
	isOpen: boolean;
}

export interface Source {
	/** Told when rows came or changed. */
	onchange: () => void;
	readonly total: number;
	/** By column: the largest number; times are written in its unit. */
	readonly max: readonly number[];
	/** Undefined: not here yet, but on its way. */
	row(i: number): Row | undefined;
	/** All rows from @from on, at most @count. */
	some(from: number, count: number): Promise<Row[]>;
	/** Where the row that is called @path is, of those that are here; -1 = nowhere. */
	find(path: string): number;
	/** Nobody looks at it any more: it asks for nothing of its own accord. */
	abandon(): void;
}

export const WINDOW = 200;

/** Indexes of the columns that say what a row is about. */
export function identity(columns: readonly Column[]): number[] {
	const changes = new Set(["percent", "duration", "call"]);
	return columns.flatMap((column, i) => (column.is_measure || changes.has(column.kind) || column.id === "end_time" ? [] : [i]));
}

function widest(max: number[], given: readonly (number | null)[] | undefined, rows: readonly Cell[][]): void {
	given?.forEach((n, i) => (max[i] = Math.max(max[i] ?? 0, n ?? 0)));
	if (given) return;
	for (const cells of rows)
		cells.forEach((cell, i) => {
			if (typeof cell === "number" && cell > (max[i] ?? 0)) max[i] = cell;
		});
}

/** Whether the first rows of @source, siblings each, fall or rise by their numbers in column @at. */
export function isInOrder(source: Source, at: number, falls: boolean): boolean {
	const before: (number | undefined)[] = [];
	for (let i = 0; i < Math.min(source.total, WINDOW); i++) {
		const row = source.row(i);
		const cell = row?.cells[at];
		if (!row || typeof cell !== "number") continue;
		before.length = row.level + 1;
		const last = before[row.level];
		if (last !== undefined && (falls ? cell > last : cell < last)) return false;
		before[row.level] = cell;
	}
	return true;
}

/**
 * What a row with @columns is called among its siblings. The address stays when a recording has ended and
 * debug information has a better name.
 */
export function nameOf(columns: readonly Column[], nameAt: number): (cells: readonly Cell[]) => string {
	const [address, module] = ["function_address", "module_name"].map((id) => columns.findIndex((column) => column.id === id));
	return (cells) => (cells[address!] ? `${cells[module!]}!${cells[address!]}` : String(cells[nameAt]));
}

/** A list of which windows are fetched as they are looked at. */
export class ListSource implements Source {
	onchange = () => {};
	total = 0;
	session: Record<string, unknown> = {};
	readonly max: number[] = [];
	private readonly windows = new Map<number, Row[]>();
	/** One window at a time: the next is one of those in sight by then. */
	private isFetching = false;
	private isAbandoned = false;

	constructor(
		private readonly client: Client,
		private readonly request: Omit<RowsRequest, "from" | "count">,
		/** Columns that make the path of a row. */
		private readonly identity: readonly number[],
		private readonly onerror: (error: Error) => void,
	) {}

	/** Fetches the first window for @asker, and those of the rows @sight; a table is shown when they are here. */
	async open(asker: object, sight: readonly number[] = []): Promise<this> {
		await this.fetch(0, WINDOW, asker);
		for (const at of new Set(sight.map((i) => Math.floor(i / WINDOW))))
			if (at > 0 && at * WINDOW < this.total) await this.fetch(at * WINDOW, WINDOW, asker);
		return this;
	}

	abandon(): void {
		this.isAbandoned = true;
	}

	private async fetch(from: number, count: number, asker?: object): Promise<Row[]> {
		const answer = await this.client.ask<Rows>({ ...this.request, from, count }, asker);
		const rows = answer.rows.map((cells, i): Row => ({
			id: answer.ids[i] ?? from + i, cells, fn: answer.functions?.[i] ?? 0, level: 0, hasChildren: false, isOpen: false,
			path: JSON.stringify(this.identity.map((at) => cells[at])),
		}));
		this.total = answer.total;
		this.session = answer.session ?? this.session;
		widest(this.max, answer.max, answer.rows);
		if (count === WINDOW) this.windows.set(from / WINDOW, rows);
		return rows;
	}

	row(i: number): Row | undefined {
		const at = Math.floor(i / WINDOW);
		const there = this.windows.get(at);
		if (there) return there[i % WINDOW];
		if (!this.isFetching && !this.isAbandoned) {
			this.isFetching = true;
			this.fetch(at * WINDOW, WINDOW)
				.finally(() => (this.isFetching = false))
				.then(() => this.onchange(), this.onerror);
		}
		return undefined;
	}

	async some(from: number, count: number): Promise<Row[]> {
		const all: Row[] = [];
		for (let at = from; at < Math.min(this.total, from + count); at += 5000)
			all.push(...(await this.fetch(at, Math.min(5000, from + count - at))));
		return all;
	}

	find(path: string): number {
		for (const [at, rows] of this.windows) {
			const i = rows.findIndex((row) => row.path === path);
			if (i >= 0) return at * WINDOW + i;
		}
		return -1;
	}
}

/** Rows that are all here. */
export class WholeSource implements Source {
	onchange = () => {};
	readonly max: number[] = [];
	private readonly rows: Row[];

	constructor(cells: readonly Cell[][]) {
		this.rows = cells.map((row, id) => ({ id, cells: row, fn: 0, path: String(id), level: 0, hasChildren: false, isOpen: false }));
		widest(this.max, undefined, cells);
	}

	get total(): number {
		return this.rows.length;
	}

	row(i: number): Row | undefined {
		return this.rows[i];
	}

	some(from: number, count: number): Promise<Row[]> {
		return Promise.resolve(this.rows.slice(from, from + count));
	}

	find(path: string): number {
		return Number(path);
	}

	abandon(): void {}
}

/** Paths are what rows are called from the root on: what is open stays open under another filter or order. */
interface Node extends Row {
	children?: Node[];
}

/** A tree whose nodes' children are fetched when they are opened. */
export class TreeSource implements Source {
	onchange = () => {};
	readonly max: number[] = [];
	private visible: Node[] = [];
	private roots: Node[] = [];
	private isAbandoned = false;

	constructor(
		private readonly client: Client,
		private readonly request: object,
		/** What a row is called among its siblings. */
		private readonly nameOf: (cells: readonly Cell[]) => string,
		/** Paths of nodes that are open, kept by who makes the sources. */
		private readonly opened: Set<string>,
	) {}

	get total(): number {
		return this.visible.length;
	}

	row(i: number): Row | undefined {
		return this.visible[i];
	}

	some(from: number, count: number): Promise<Row[]> {
		return Promise.resolve(this.visible.slice(from, from + count));
	}

	/** Fetches the roots for @asker, and what is open below them; of a tree that was seen before, with its rows in @sight. */
	async open(asker: object, sight?: readonly number[]): Promise<this> {
		this.roots = await this.fetch(undefined, asker);
		if (!sight && this.roots.length === 1 && this.opened.size === 0) this.opened.add(this.roots[0]!.path);
		await this.reopen(this.roots);
		this.flatten();
		return this;
	}

	find(path: string): number {
		return this.visible.findIndex((node) => node.path === path);
	}

	abandon(): void {
		this.isAbandoned = true;
	}

	private async fetch(parent: Node | undefined, asker?: object): Promise<Node[]> {
		if (this.isAbandoned) throw new Overtaken();
		const answer = await this.client.ask<TreeRows>({ ...this.request, node: parent?.id ?? 0 }, asker);
		widest(this.max, answer.max, answer.rows);
		const level = parent ? parent.level + 1 : 0;
		return answer.rows.map((cells, i): Node => ({
			id: answer.ids[i]!,
			cells,
			fn: answer.functions?.[i] ?? 0,
			level,
			hasChildren: answer.has_children[i]!,
			isOpen: false,
			path: `${parent?.path ?? ""}\n${this.nameOf(cells)}`,
		}));
	}

	private async reopen(nodes: Node[]): Promise<void> {
		for (const node of nodes)
			if (node.hasChildren && this.opened.has(node.path)) {
				node.children ??= await this.fetch(node);
				node.isOpen = true;
				await this.reopen(node.children);
			}
	}

	private flatten(): void {
		this.visible = [];
		const add = (nodes: Node[]) => {
			for (const node of nodes) {
				this.visible.push(node);
				if (node.isOpen && node.children) add(node.children);
			}
		};
		add(this.roots);
		this.onchange();
	}

	/** Opens or closes row @i. */
	async toggle(i: number, open: boolean): Promise<void> {
		const node = this.visible[i];
		if (!node?.hasChildren || node.isOpen === open) return;
		// First of all: a newer reading may take its place meanwhile.
		if (open) this.opened.add(node.path);
		else this.opened.delete(node.path);
		if (open) node.children ??= await this.fetch(node);
		node.isOpen = open;
		if (open) await this.reopen(node.children!);
		this.flatten();
	}

	/**
	 * Opens what is below row @i, where it is at most @levels deeper, the upper levels first, until
	 * some @most rows more are seen; whether that is all of it.
	 */
	async openBelow(i: number, levels: number, most: number): Promise<boolean> {
		let level = this.visible.slice(i, i + 1);
		let rows = 0;
		for (let left = levels; left && level.length && rows < most; left--) {
			const next: Node[] = [];
			for (const node of level) {
				if (!node.hasChildren || rows >= most) continue;
				node.children ??= await this.fetch(node);
				node.isOpen = true;
				this.opened.add(node.path);
				rows += node.children.length;
				next.push(...node.children);
			}
			level = next;
		}
		this.flatten();
		return rows < most;
	}

	/** Opens the nodes @ids from the roots down; the row of the last one. */
	async openPath(ids: readonly number[]): Promise<number> {
		let nodes = this.roots;
		let last: Node | undefined;
		for (const id of ids) {
			const node = nodes.find((other) => other.id === id);
			if (!node) break;
			last = node;
			if (!node.hasChildren) break;
			node.children ??= await this.fetch(node);
			node.isOpen = true;
			this.opened.add(node.path);
			nodes = node.children;
		}
		this.flatten();
		return last ? this.visible.indexOf(last) : 0;
	}

	closeAll(): void {
		this.opened.clear();
		const close = (nodes: Node[]) => {
			for (const node of nodes) {
				node.isOpen = false;
				if (node.children) close(node.children);
			}
		};
		close(this.roots);
		this.flatten();
	}

	/** The row of the parent of row @i. */
	parent(i: number): number {
		const level = this.visible[i]?.level ?? 0;
		let at = i;
		while (at > 0 && this.visible[at]!.level >= level) at--;
		return at;
	}
}
