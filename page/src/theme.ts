/* Light or dark: as the system has it, unless somebody chose. */
import { button } from "./dom.ts";

const KEY = "dwell-theme";
const dark = matchMedia("(prefers-color-scheme: dark)");
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
	return (document.documentElement.dataset.theme ?? (dark.matches ? "dark" : "light")) === "dark";
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
	dark.addEventListener("change", () => listeners.forEach((listener) => listener()));
	return button("◐", toggleTheme, { "aria-label": "Light or dark", "data-tip": "Light or dark (t)" });
}

/** A colour of the style sheet, for canvases. */
export function cssColor(name: string): string {
	return getComputedStyle(document.documentElement).getPropertyValue(name).trim();
}
