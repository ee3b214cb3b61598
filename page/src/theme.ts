/* Light or dark: as the system has it, unless somebody chose. */
import { button, el } from "./dom.ts";

const KEY = "dwell-theme";
const dark = matchMedia("(prefers-color-scheme: dark)");
/** Paper is light. */
const paper = matchMedia("print");
const listeners = new Set<() => void>();

/** Storage may be refused to pages from files. */
function remembered(): string | null {
	try {
		return localStorage.getItem(KEY);
	} catch {
		return null;
	}
}

function remember(theme: string): void {
	try {
		localStorage.setItem(KEY, theme);
	} catch {
		/* It is chosen for this time only. */
	}
}

export function isDark(): boolean {
	return !paper.matches && (document.documentElement.dataset.theme ?? (dark.matches ? "dark" : "light")) === "dark";
}

/** What draws on canvases draws again when colours change. */
export function onTheme(listener: () => void): void {
	listeners.add(listener);
}

export function toggleTheme(): void {
	const theme = isDark() ? "light" : "dark";
	document.documentElement.dataset.theme = theme;
	remember(theme);
	for (const listener of listeners) listener();
}

export function themeButton(): HTMLElement {
	const chosen = remembered();
	if (chosen === "light" || chosen === "dark") document.documentElement.dataset.theme = chosen;
	for (const media of [dark, paper]) media.addEventListener("change", () => listeners.forEach((listener) => listener()));
	return button("◐", toggleTheme, { "aria-label": "Light or dark", "data-tip": "Light or dark (t)" });
}

/** Colours of the style sheet as they are now, for canvases. */
export function cssColors<K extends string>(...names: K[]): Record<K, string> {
	const probe = document.body.appendChild(el("i", { hidden: true }));
	const colors = names.map((name) => {
		probe.style.color = `var(--${name})`;
		return [name, getComputedStyle(probe).color];
	});
	probe.remove();
	return Object.fromEntries(colors) as Record<K, string>;
}
