/*
 * Where frames of a flame graph stand: rows of boxes, from what the engine gives in depth-first
 * order. Nothing here draws, so that it can be tested alone.
 */
import type { Flame, FlameNodes } from "./protocol.ts";

export interface Box {
	/** Index of the node in its graph. */
	node: number;
	x: number;
	width: number;
	/** 0 = the outermost row. */
	row: number;
	graph: Flame;
	/** Callers of the frame that is zoomed to: they fill the width. */
	isAncestor: boolean;
}

/** The end of @node's subtree, behind it. */
export function subtreeEnd(nodes: FlameNodes, node: number): number {
	const depth = nodes.depth[node]!;
	let end = node + 1;
	while (end < nodes.id.length && nodes.depth[end]! > depth) end++;
	return end;
}

/** The callers of @node, the outermost first. */
export function ancestors(nodes: FlameNodes, node: number): number[] {
	const path: number[] = [];
	let depth = nodes.depth[node]!;
	for (let i = node - 1; i >= 0 && depth > 0; i--)
		if (nodes.depth[i]! < depth) {
			depth = nodes.depth[i]!;
			path.unshift(i);
		}
	return path;
}

/** Names from the root to @node, each with its module. */
export function pathOf(graph: Flame, node: number): string[] {
	const { nodes, names, modules } = graph;
	return [...ancestors(nodes, node), node].map((i) => `${names[nodes.name[i]!]}\n${modules[nodes.module[i]!] ?? ""}`);
}

/** The node of @graph that @path leads to, or as far as it goes; -1 = not even its root is there. */
export function nodeAt(graph: Flame, path: readonly string[]): number {
	const { nodes, names, modules } = graph;
	let last = -1;
	for (let i = 0, depth = 0; i < nodes.id.length && depth < path.length; i++) {
		if (nodes.depth[i]! < depth) break;
		if (nodes.depth[i]! > depth || `${names[nodes.name[i]!]}\n${modules[nodes.module[i]!] ?? ""}` !== path[depth]) continue;
		last = i;
		depth++;
	}
	return last;
}

/** What of a graph fills a width, from row @row down: nodes @from to @end, which have @total. */
interface Part {
	graph: Flame;
	from: number;
	end: number;
	total: number;
	row: number;
}

/** Boxes of @part in @width; those narrower than @least are left out. */
function boxesOf({ graph, from, end, total, row }: Part, width: number, least: number): Box[] {
	const { nodes } = graph;
	const boxes: Box[] = [];
	const scale = total ? width / total : 0;
	for (let i = from; i < end; i++) {
		const wide = nodes.value[i]! * scale;
		if (wide < least) continue;
		boxes.push({
			node: i,
			x: (nodes.start[i]! - nodes.start[from]!) * scale,
			width: wide,
			row: row + nodes.depth[i]! - nodes.depth[from]!,
			graph,
			isAncestor: false,
		});
	}
	return boxes;
}

function wholeOf(graph: Flame, row: number): Part {
	return { graph, from: 0, end: graph.nodes.id.length, total: graph.total, row };
}

/**
 * Boxes by rows, each from left to right. @detail is the graph of the node that is zoomed to, with
 * more of what is small; undefined as long as it is not there. Nothing is there of a node that is
 * too small for @base until @detail is, and then its callers are not known.
 */
export function layOut(base: Flame, zoom: number, detail: Flame | undefined, width: number, least = 0.4): Box[][] {
	const { nodes } = base;
	const at = zoom ? nodes.id.indexOf(zoom) : -1;
	const callers = at >= 0 ? ancestors(nodes, at) : [];
	const boxes = callers.map((node, row): Box => ({ node, x: 0, width, row, graph: base, isAncestor: true }));
	if (detail) boxes.push(...boxesOf(wholeOf(detail, callers.length), width, least));
	else if (!zoom) boxes.push(...boxesOf(wholeOf(base, 0), width, least));
	else if (at >= 0) {
		const part = { graph: base, from: at, end: subtreeEnd(nodes, at), total: nodes.value[at]!, row: callers.length };
		boxes.push(...boxesOf(part, width, least));
	}
	const rows: Box[][] = [];
	for (const box of boxes) (rows[box.row] ??= []).push(box);
	for (let i = 0; i < rows.length; i++) rows[i] ??= [];
	return rows;
}

/** The box of row @row at @x. */
export function boxAt(rows: readonly Box[][], row: number, x: number): Box | undefined {
	const boxes = rows[row];
	if (!boxes) return undefined;
	let low = 0;
	let high = boxes.length;
	while (low < high) {
		const mid = (low + high) >> 1;
		if (boxes[mid]!.x <= x) low = mid + 1;
		else high = mid;
	}
	const box = boxes[low - 1];
	return box && x < box.x + Math.max(1, box.width) ? box : undefined;
}

export interface Found {
	/** By name of the graph: whether it was searched for. */
	isName: boolean[];
	frames: number;
	/** Of everything: what has such a frame on its stack, each once. */
	share: number;
}

/** What @wanted finds in @graph; case is ignored. */
export function find(graph: Flame, wanted: string): Found {
	const lower = wanted.toLowerCase();
	const isName = graph.names.map((name) => !!lower && name.toLowerCase().includes(lower));
	const { nodes } = graph;
	let frames = 0;
	let value = 0;
	let within = Infinity;
	for (let i = 0; i < nodes.id.length; i++) {
		const depth = nodes.depth[i]!;
		if (depth <= within) within = Infinity;
		if (!isName[nodes.name[i]!]) continue;
		frames++;
		if (within !== Infinity) continue;
		value += nodes.value[i]!;
		within = depth;
	}
	return { isName, frames, share: graph.total ? value / graph.total : 0 };
}
