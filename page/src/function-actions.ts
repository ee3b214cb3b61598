/* Where a function can be looked at: buttons that lead there. */
import { button } from "./dom.ts";
import { viewInfo, type Context } from "./panel.ts";

/** A function, by its name and by its number in the session, 0 = the name alone says it. */
export interface Named {
	fn: string;
	fnId: number;
}

const VIEWS = [
	["callers", "Callers", "Who calls it, and what it calls."],
	["lines", "Lines", "All lines of the function, in their order."],
	["instructions", "Instructions", "All instructions of the function, in their order."],
] as const;

/** Buttons of @view about the function that @of tells when they are used. */
export function functionActions(context: Context, view: string, of: () => Named | undefined): HTMLElement[] {
	const go = (to: string) => {
		const named = of();
		if (named) context.dispatch({ type: "view", view: to, ...named });
	};
	const buttons = VIEWS.filter(([name]) => name !== view && viewInfo(context.session, name)).map(([name, label, tip]) =>
		button(label, () => go(name), { "data-tip": tip }));
	const root = () => {
		const named = of();
		if (!named) return;
		context.dispatch({ type: "filter", set: { root: named.fn } });
		if (view === "callers") context.dispatch({ type: "view", view: "flame" });
	};
	return [...buttons, button("Set as root", root, { "data-tip": "The call tree and the flame graph begin at this function." })];
}
