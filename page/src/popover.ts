/* A button that opens a small sheet below it; Escape or a click elsewhere closes it. */
import { button, el, fill } from "./dom.ts";

export function popover(label: string, tip: string, content: () => HTMLElement): HTMLElement {
	const sheet = el("div.sheet", { hidden: true });
	const opener = button(label, () => (sheet.hidden ? open() : close()), { "aria-expanded": "false", "data-tip": tip });
	const element = el("div.popover", {}, opener, sheet);

	const outside = (event: Event) => {
		if (!element.contains(event.target as Node)) close();
	};
	function open(): void {
		fill(sheet, content());
		sheet.hidden = false;
		opener.setAttribute("aria-expanded", "true");
		document.addEventListener("mousedown", outside);
		const box = sheet.getBoundingClientRect();
		sheet.classList.toggle("leftwards", box.right > innerWidth);
		sheet.querySelector<HTMLElement>("input, select, button")?.focus();
	}
	function close(): void {
		sheet.hidden = true;
		sheet.classList.remove("leftwards");
		opener.setAttribute("aria-expanded", "false");
		document.removeEventListener("mousedown", outside);
	}
	element.addEventListener("keydown", (event) => {
		if (event.key !== "Escape" || sheet.hidden) return;
		close();
		opener.focus();
		event.stopPropagation();
	});
	return element;
}
