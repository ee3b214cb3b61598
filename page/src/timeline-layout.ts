/* Places of times and marks on the timeline; nothing here draws. */
import { grouped } from "./format.ts";
import type { Timeline } from "./protocol.ts";

export interface Sums {
	running: number[];
	blocked: number[];
	/** The most that a bucket has. */
	runningMax: number;
	blockedMax: number;
}

/** Whether only the sum of all times is known: it is spread over them evenly then. */
export function isOneSpan({ running, blocked, runningMax }: Sums): boolean {
	return runningMax > 0 && blocked.every((n) => !n) && running.every((n) => runningMax - n <= 1);
}

export function sums({ threads }: Timeline): Sums {
	const n = Math.max(0, ...threads.map((thread) => thread.running.length));
	const running = new Array<number>(n).fill(0);
	const blocked = new Array<number>(n).fill(0);
	for (const thread of threads)
		for (let i = 0; i < n; i++) {
			running[i]! += thread.running[i] ?? 0;
			blocked[i]! += thread.blocked[i] ?? 0;
		}
	return { running, blocked, runningMax: Math.max(0, ...running), blockedMax: Math.max(0, ...blocked) };
}

/** Which threads the timeline is of: the engine tells those with most. */
export function threadsInWords({ threads, threads_total: all }: Timeline): string {
	return threads.length < all ? `Threads: the ${grouped(threads.length)} with most of ${grouped(all)}` : "Threads";
}

/** Round times for marks, at least @least pixels apart. */
export function ticks(from: number, until: number, width: number, least = 90): number[] {
	const span = until - from;
	if (span <= 0 || width <= 0) return [];
	const rough = (span * least) / width;
	const power = 10 ** Math.floor(Math.log10(rough));
	const step = [1, 2, 5, 10].map((n) => n * power).find((n) => n >= rough) ?? 10 * power;
	const marks: number[] = [];
	for (let at = Math.ceil(from / step) * step; at <= until; at += step) marks.push(at);
	return marks;
}

/** A range from two ends in any order, within the recording; undefined = too narrow to be meant. */
export function range(a: number, b: number, from: number, until: number, least: number): [number, number] | undefined {
	const low = Math.round(Math.max(from, Math.min(a, b)));
	const high = Math.round(Math.min(until, Math.max(a, b)));
	return high - low >= least ? [low, high] : undefined;
}
