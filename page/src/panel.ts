/* What all views share: the session, the engine, the state, and what a view is to the page. */
import type { Client } from "./client.ts";
import type { Column, Session, ViewInfo } from "./protocol.ts";
import type { Action, State } from "./state.ts";

export interface Context {
	session: Session;
	client: Client;
	readonly state: State;
	dispatch(action: Action): void;
	/** Shows on the timeline when something was. */
	mark(range: readonly [number, number] | undefined): void;
	/** Says what went wrong, where people see it. */
	report(message: string): void;
}

/** One view. It is made once and shown again with each state in which it is the current one. */
export interface Panel {
	readonly element: HTMLElement;
	/** Buttons and choices of this view, made anew when it is entered. */
	tools(): HTMLElement[];
	show(state: State): void;
	focus(): void;
	/** A key that the page itself does not know; true = it was used. */
	key?(event: KeyboardEvent): boolean;
}

export function viewInfo(session: Session, name: string): ViewInfo | undefined {
	return session.views.find((view) => view.name === name);
}

const NAMES = ["name", "class_name", "waits_for", "gc_number", "function_name", "command", "call_path"];

/** The column that says what a row is about. */
export function nameColumn(columns: readonly Column[]): number {
	for (const id of NAMES) {
		const at = columns.findIndex((column) => column.id === id);
		if (at >= 0) return at;
	}
	return Math.max(0, columns.findIndex((column) => column.kind === "text"));
}

/** Ids of the columns that @info's table shows: what was chosen, else its defaults; the name first. */
export function shownColumns(info: ViewInfo, chosen: readonly string[] | undefined): string[] {
	const name = info.columns[nameColumn(info.columns)]?.id ?? "";
	const all = info.columns.map((column) => column.id);
	const wanted = chosen?.filter((id) => all.includes(id)) ?? [];
	// What was measured stands beside the name, words behind it.
	const usual = info.columns
		.filter((column) => column.is_default)
		.sort((a, b) => Number(a.kind === "text") - Number(b.kind === "text"));
	const rest = wanted.length ? wanted : usual.map((column) => column.id);
	return [name, ...rest.filter((id) => id !== name)];
}

/** A key that is equal for equal requests. */
export function same(a: unknown, b: unknown): boolean {
	return JSON.stringify(a) === JSON.stringify(b);
}
