/* Where a function can be looked at: buttons that lead there. */
import { button } from "./dom.ts";
import { viewInfo, type Context } from "./panel.ts";

/** A function, by its name and by its number, 0 = the name alone says it. */
export interface Named {
	fn: string;
	fnId: number;
}

/** Words that mean @named alone: several functions may have its name, and numbers are those of one reading. */
export async function wordsFor({ client }: Context, { fn, fnId }: Named): Promise<string> {
	if (!fnId) return fn;
	return (await client.ask<{ word: string }>({ op: "word", name: fn, function: fnId })).word;
}

/** Shows @view about the function @named. */
export function goToFunction(context: Context, view: string, named: Named): void {
	wordsFor(context, named).then(
		(fn) => context.dispatch({ type: "view", view, fn }),
		(error: Error) => context.report(error.message),
	);
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
		if (named) goToFunction(context, to, named);
	};
	const buttons = VIEWS.filter(([name]) => name !== view && viewInfo(context.session, name)).map(([name, label, tip]) =>
		button(label, () => go(name), { "data-tip": tip }));
	const root = () => {
		const named = of();
		if (!named) return;
		wordsFor(context, named).then(
			(word) => {
				context.dispatch({ type: "filter", set: { root: word } });
				if (view === "callers") context.dispatch({ type: "view", view: "flame" });
			},
			(error: Error) => context.report(error.message),
		);
	};
	return [...buttons, button("Set as root", root, { "data-tip": "The call tree and the flame graph begin at this function." })];
}
