/* Keys of the whole page; those of a table or a graph are its own. */
import type { Panel } from "./panel.ts";
import { toggleTheme } from "./theme.ts";

interface Actions {
	help(): void;
	search(): void;
	filter(): void;
	clear(): void;
	threads(): void;
	/** To the view @step further, or to number @to. */
	view(step: number, to?: number): void;
	panel(): Panel | undefined;
}

function isTyping(target: EventTarget | null): boolean {
	return target instanceof HTMLElement && !!target.closest("input, select, textarea, dialog[open]");
}

export function watchKeys(actions: Actions): void {
	const keys: Record<string, () => void> = {
		"?": () => actions.help(),
		"/": () => actions.search(),
		f: () => actions.filter(),
		x: () => actions.clear(),
		t: toggleTheme,
		m: () => actions.threads(),
		"[": () => actions.view(-1),
		"]": () => actions.view(1),
	};
	document.addEventListener("keydown", (event) => {
		if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey || isTyping(event.target)) return;
		const digit = /^[1-9]$/.test(event.key) ? Number(event.key) : 0;
		if (digit) actions.view(0, digit - 1);
		else if (keys[event.key]) keys[event.key]!();
		else if (["ArrowDown", "ArrowUp"].includes(event.key) && event.target === document.body) actions.panel()?.focus();
		else if (!actions.panel()?.key?.(event)) return;
		event.preventDefault();
	});
}
