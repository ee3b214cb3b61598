/* Choosing which columns a table shows. */
import { button, el } from "./dom.ts";
import { popover } from "./popover.ts";
import { nameColumn, shownColumns, type Context } from "./panel.ts";
import type { ViewInfo } from "./protocol.ts";

export function chooseColumns(context: Context, info: ViewInfo): HTMLElement {
	const chosen = () => shownColumns(info, context.state.tables[info.name]?.columns);
	const set = (columns: string[] | undefined) => context.dispatch({ type: "columns", view: info.name, columns });
	const name = info.columns[nameColumn(info.columns)]?.id;
	return popover("Columns", "Choose the columns of this table.", () => {
		const list = el("div.choices");
		const boxes = new Map<string, HTMLInputElement>();
		const usual = () => {
			set(undefined);
			for (const [id, box] of boxes) box.checked = chosen().includes(id);
		};
		for (const column of info.columns) {
			if (column.id === name) continue;
			const box = el("input", { type: "checkbox" });
			boxes.set(column.id, box);
			box.checked = chosen().includes(column.id);
			box.addEventListener("change", () => {
				const now = chosen();
				const all = info.columns.map((other) => other.id);
				set(box.checked ? all.filter((id) => id === column.id || now.includes(id)) : now.filter((id) => id !== column.id));
			});
			list.append(el("label", { "data-tip": column.help }, box, column.title));
		}
		return el("div", {}, list, el("div.actions", {}, button("Usual columns", usual)));
	});
}
