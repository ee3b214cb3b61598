/* Making elements: text is text, never markup, whatever the program's names hold. */
import { shown } from "./names.ts";
import type { Place } from "./question.ts";

type Attributes = Record<string, string | number | boolean | undefined | ((event: never) => void)>;
export type Child = Node | string | null | undefined | false;

/** An element "tag.class.class" with attributes, on… listeners, and children. */
export function el<K extends keyof HTMLElementTagNameMap>(
	spec: K | `${K}.${string}`,
	attributes: Attributes = {},
	...children: Child[]
): HTMLElementTagNameMap[K] {
	const [tag, ...classes] = spec.split(".") as [K, ...string[]];
	const element = document.createElement(tag);
	if (classes.length) element.className = classes.join(" ");
	for (const [name, value] of Object.entries(attributes)) {
		if (value === undefined || value === false) continue;
		if (typeof value === "function") element.addEventListener(name.slice(2), value as EventListener);
		else element.setAttribute(name, value === true ? "" : String(value));
	}
	element.append(...children.filter((child): child is Node | string => !!child));
	return element;
}

/** A button that says what it does. */
export function button(label: string, onclick: (event: MouseEvent) => void, attributes: Attributes = {}): HTMLButtonElement {
	return el("button", { type: "button", onclick, ...attributes }, label);
}

/** Puts @children in place of what @element holds. */
export function fill(element: Element, ...children: Child[]): void {
	element.replaceChildren(...children.filter((child): child is Node | string => !!child));
}

const FOCUSABLE = "button, input, select";

/** Puts @children in place of what @element holds; what has the focus has it again, or what is now in its place. */
export function refill(element: Element, ...children: Child[]): void {
	const at = [...element.querySelectorAll(FOCUSABLE)].indexOf(document.activeElement!);
	fill(element, ...children);
	const all = element.querySelectorAll<HTMLElement>(FOCUSABLE);
	if (at >= 0) all[Math.min(at, all.length - 1)]?.focus();
}

/** @element as the place of an answer; when there is none, it shows why and hides all else. */
export function placeIn(element: HTMLElement): Place {
	const problem = el("p.problem", { role: "alert" });
	const end = (isFailed: boolean) => {
		element.removeAttribute("aria-busy");
		element.classList.toggle("failed", isFailed);
		if (isFailed) element.append(problem);
		else problem.remove();
	};
	return {
		waits: () => element.setAttribute("aria-busy", "true"),
		arrived: () => end(false),
		failed(message) {
			problem.textContent = shown(message);
			end(true);
		},
	};
}

/** Makes @canvas so large, in pixels of the page, and gives what draws on it in these. */
export function sized(canvas: HTMLCanvasElement, width: number, height: number): CanvasRenderingContext2D {
	const ratio = devicePixelRatio || 1;
	const [w, h] = [Math.round(width * ratio), Math.round(height * ratio)];
	if (canvas.width !== w || canvas.height !== h) {
		Object.assign(canvas, { width: w, height: h });
		Object.assign(canvas.style, { width: `${width}px`, height: `${height}px` });
	}
	const to = canvas.getContext("2d")!;
	to.setTransform(ratio, 0, 0, ratio, 0, 0);
	to.clearRect(0, 0, width, height);
	to.textBaseline = "middle";
	return to;
}

/** A list to choose one of. */
export function select(
	label: string,
	options: readonly (readonly [value: string, text: string])[],
	value: string,
	onchange: (value: string) => void,
): HTMLElement {
	const list = el("select", { "aria-label": label });
	for (const [id, text] of options) {
		const option = el("option", { value: id }, text);
		option.selected = id === value;
		list.append(option);
	}
	list.addEventListener("change", () => onchange(list.value));
	return el("label.choice", {}, el("span", {}, label), list);
}

/** Runs @action once when calls of the result have ceased for @ms. */
export function debounced(ms: number, action: () => void): () => void {
	let timer = 0;
	return () => {
		clearTimeout(timer);
		timer = window.setTimeout(action, ms);
	};
}

let announcer: HTMLElement | undefined;

/** Lets screen readers say @text. */
export function announce(text: string): void {
	announcer ??= document.body.appendChild(el("div.unseen", { "aria-live": "polite", role: "status" }));
	announcer.textContent = text;
}
