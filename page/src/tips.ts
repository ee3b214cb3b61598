/* One tip for the whole page: what carries data-tip says it on hover and when a key brings focus. */
import { el } from "./dom.ts";
import { shown } from "./names.ts";

const DELAY_MS = 350;
const GAP_PX = 8;

const tip = el("div.tip", { role: "tooltip", hidden: true });

/** Shows @text near the point; for canvases, too. The first line stands out. */
export function showTip(text: string, x: number, y: number): void {
	const [first, ...rest] = text.split("\n").map(shown);
	tip.replaceChildren(el("strong", { dir: "ltr" }, first ?? ""), ...rest.filter(Boolean).map((line) => el("div", {}, line)));
	tip.hidden = false;
	const { width, height } = tip.getBoundingClientRect();
	const left = Math.max(GAP_PX, Math.min(x + GAP_PX, innerWidth - width - GAP_PX));
	const below = y + 2 * GAP_PX;
	const top = below + height > innerHeight ? y - height - GAP_PX : below;
	tip.style.left = `${left}px`;
	tip.style.top = `${Math.max(0, top)}px`;
}

export function hideTip(): void {
	tip.hidden = true;
}

export function watchTips(): void {
	let timer = 0;
	let at: Element | null = null;
	document.body.append(tip);
	const leave = () => {
		clearTimeout(timer);
		at = null;
		hideTip();
	};
	document.addEventListener("mouseover", (event) => {
		const owner = (event.target as Element).closest<HTMLElement>("[data-tip]");
		if (owner === at) return;
		leave();
		at = owner;
		const text = owner?.dataset.tip;
		if (text) timer = window.setTimeout(() => showTip(text, event.clientX, event.clientY), DELAY_MS);
	});
	document.addEventListener("focusin", (event) => {
		const owner = event.target as HTMLElement;
		const text = owner.matches(":focus-visible") ? owner.dataset.tip : undefined;
		leave();
		if (!text) return;
		const box = owner.getBoundingClientRect();
		showTip(text, box.left, box.bottom);
	});
	for (const type of ["mousedown", "scroll", "keydown", "focusout"]) document.addEventListener(type, leave, true);
}
