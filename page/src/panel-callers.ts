/*
 * The butterfly: who calls a function, the function, and what it calls. A click on either side makes
 * that the function in the middle; the browser's back returns.
 */
import { button, el, fill, type Child } from "./dom.ts";
import { Overtaken } from "./client.ts";
import { columnHelp } from "./column-help.ts";
import { amount, percent } from "./format.ts";
import { fileName, shorten, shown } from "./names.ts";
import { same, viewInfo, type Context, type Panel } from "./panel.ts";
import type { Column, ReportRow } from "./protocol.ts";
import type { State } from "./state.ts";

interface Answer {
	id: number;
	self: ReportRow[];
	callers: ReportRow[];
	callees: ReportRow[];
	lines: ReportRow[];
}

const NAME_CHARACTERS = 52;
const ROWS_MAX = 400;

export class CallersPanel implements Panel {
	readonly element = el("div.callers", { tabindex: -1 });
	private asked: unknown;

	constructor(private readonly context: Context) {}

	private columns(): Column[] {
		return viewInfo(this.context.session, "function")?.columns ?? [];
	}

	/** The measure that shares are of, and its column of shares. */
	private main(): { total: Column; share: Column | undefined } | undefined {
		const sort = viewInfo(this.context.session, "callers")?.sort;
		const total = this.columns().find((column) => column.id === sort);
		return total && { total, share: this.columns().find((column) => column.id === `${total.id}_percent`) };
	}

	tools(): HTMLElement[] {
		const { state, session } = this.context;
		const go = (view: string, label: string) =>
			button(label, () => this.context.dispatch({ type: "view", view, fn: state.fn, fnId: state.fnId }));
		return [
			...(viewInfo(session, "lines") ? [go("lines", "Lines")] : []),
			...(viewInfo(session, "instructions") ? [go("instructions", "Instructions")] : []),
			button("Set as root", () => {
				this.context.dispatch({ type: "filter", set: { root: this.context.state.fn } });
				this.context.dispatch({ type: "view", view: "flame" });
			}, { "data-tip": "The call tree and the flame graph begin at this function." }),
		];
	}

	show(state: State): void {
		if (!state.fn) return void this.suggest(state);
		const request = {
			op: "function", name: state.fn, filter: state.filter, ...(state.fnId ? { function: state.fnId } : {}),
		};
		if (same(this.asked, request)) return;
		this.asked = request;
		this.context.client.ask<Answer>(request, "callers").then(
			(answer) => same(this.asked, request) && this.draw(answer),
			(error: Error) => {
				if (error instanceof Overtaken) return;
				fill(this.element, el("p.quiet", {}, shown(error.message)));
			},
		);
	}

	/** Without a function: the one with the most of its own is where one would begin. */
	private async suggest(state: State): Promise<void> {
		type Functions = { rows: unknown[][]; functions?: number[]; columns: string[] };
		const info = viewInfo(this.context.session, "functions");
		const request = {
			op: "rows", view: "functions", filter: state.filter, sort: info?.sort, descending: true, from: 0, count: 1,
		};
		const answer = await this.context.client.ask<Functions>(request, "callers");
		const at = info?.columns.findIndex((column) => column.id === "function_name") ?? -1;
		const name = String(answer.rows[0]?.[at] ?? "");
		if (!this.context.state.fn && name) this.show({ ...state, fn: name, fnId: answer.functions?.[0] ?? 0 });
	}

	private value(row: ReportRow, column: Column | undefined): string {
		const value = column && row[column.id];
		if (typeof value !== "number") return "";
		return column!.kind === "percent" ? `${percent(value)} %` : amount(value, column!.kind, column!.id);
	}

	private side(title: string, help: string, rows: readonly ReportRow[], of: ReportRow | undefined): HTMLElement {
		const main = this.main();
		const whole = Number((main && of?.[main.total.id]) ?? 0);
		const list = el("ol.ranked");
		for (const row of rows.slice(0, ROWS_MAX)) {
			const name = String(row["function_name"] ?? row["name"] ?? "");
			const value = Number((main && row[main.total.id]) ?? 0);
			const bar = el("span.bar", { "aria-hidden": "true" });
			bar.style.setProperty("--part", String((whole ? Math.min(100, (100 * value) / whole) : 0) / 100));
			const words = el("span.words", { dir: "ltr", "data-tip": `${shown(name.slice(0, 2000))}\n${row["module_name"] ?? ""}` });
			if (name.startsWith("[")) words.append(shown(name));
			else
				words.append(button(shorten(name, NAME_CHARACTERS), () =>
					this.context.dispatch({ type: "view", view: "callers", fn: name }), { class: "link" }));
			const calls = typeof row["number_of_calls"] === "number" ? `${amount(row["number_of_calls"], "count", "")} calls` : "";
			list.append(el("li", {}, el("span.figure", { "data-tip": main?.total.help },
				this.value(row, main?.share) || this.value(row, main?.total)), bar, words,
				el("span.quiet", {}, [this.value(row, main?.total), calls].filter(Boolean).join(", "))));
		}
		return el("section.card", {}, el("h2", {}, title, el("small", {}, help)), list,
			rows.length > ROWS_MAX && el("p.quiet", {}, `and ${rows.length - ROWS_MAX} more`),
			!rows.length && el("p.quiet", {}, "none"));
	}

	private middle(row: ReportRow | undefined, name: string): HTMLElement {
		const source = row?.["source_file"];
		const line = row?.["function_line_number"];
		const facts = el("dl");
		for (const column of this.columns()) {
			const cell = row?.[column.id];
			if (!column.is_measure || !column.is_default || cell === null || cell === undefined) continue;
			facts.append(el("dt", { "data-tip": column.help }, column.title), el("dd.figure", {}, this.value(row!, column)));
		}
		return el("section.card.middle", {},
			el("h2", { dir: "ltr", "data-tip": shown(name.slice(0, 2000)) }, shorten(name, 160)),
			el("p.quiet", { dir: "ltr", "data-tip": shown(String(source ?? row?.["module_path"] ?? "")) },
				[row?.["module_name"], source && shown(fileName(String(source))) + (line ? `:${line}` : "")].filter(Boolean).join(" · ")),
			facts);
	}

	private lines(all: readonly ReportRow[]): Child {
		const rows = all.filter((row) => typeof row["source_line_begin"] === "number");
		const sort = viewInfo(this.context.session, "lines")?.sort;
		const total = this.columns().find((column) => column.id === sort);
		if (!rows.length || !total) return null;
		const share = this.columns().find((column) => column.id === `${total.id.replace(/_percent$/, "")}_percent`);
		const list = el("ol.ranked.lines");
		for (const row of rows.slice(0, ROWS_MAX)) {
			const bar = el("span.bar", { "aria-hidden": "true" });
			bar.style.setProperty("--part", String((Math.min(100, Number((share && row[share.id]) ?? 0))) / 100));
			list.append(el("li", {},
				el("span.figure", { "data-tip": columnHelp(total.id) }, this.value(row, share)), bar,
				el("span.words.code", { dir: "ltr" },
					`${fileName(String(row["source_file"] ?? ""))}:${row["source_line_begin"] ?? "?"}  ${shown(String(row["source_text"] ?? ""))}`),
				el("span.quiet", {}, this.value(row, total))));
		}
		return el("section.card", {}, el("h2", {}, "Its lines", el("small", {}, total.title)), list);
	}

	private draw(answer: Answer): void {
		const self = answer.self[0];
		const name = String(self?.["function_name"] ?? this.context.state.fn);
		fill(this.element,
			el("div.butterfly", {},
				this.side("Callers", "what their calls of it caused", answer.callers, self),
				this.middle(self, name),
				this.side("Callees", "what they took when called by it", answer.callees, self)),
			this.lines(answer.lines));
	}

	focus(): void {
		this.element.focus({ preventScroll: true });
	}
}
