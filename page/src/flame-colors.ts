/* Colours of frames: one hue a module, or how much of a frame the operating system took. */
import type { Flame } from "./protocol.ts";
import type { FlameColor } from "./state.ts";

/** Far from each other, the first for what a program has most of. */
const HUES = [212, 28, 160, 268, 340, 190, 92, 48, 310, 232, 12, 128];
const STEPS = 8;

export interface Palette {
	/** Background of node @i of @graph. */
	of(graph: Flame, i: number): string;
	module(name: string): string;
	text: string;
	found: string;
	foundText: string;
	dimmed: string;
	system: string[];
}

function moduleColor(hue: number, isDark: boolean, isSystem: boolean): string {
	if (isSystem) return isDark ? "hsl(30 4% 34%)" : "hsl(30 8% 84%)";
	return isDark ? `hsl(${hue} 30% 33%)` : `hsl(${hue} 58% 84%)`;
}

/** From the program's own time to the operating system's: blue through grey to orange. */
function systemColors(isDark: boolean): string[] {
	return Array.from({ length: STEPS + 1 }, (_, i) => {
		const share = i / STEPS;
		const hue = share < 0.5 ? 212 : 30;
		const strength = Math.abs(2 * share - 1);
		return isDark
			? `hsl(${hue} ${5 + 40 * strength}% ${33 + 5 * share}%)`
			: `hsl(${hue} ${5 + 65 * strength}% ${84 - 8 * share}%)`;
	});
}

/** Modules get their hues by @order, the heaviest first. */
export function makePalette(isDark: boolean, color: FlameColor, order: readonly string[]): Palette {
	const place = new Map(order.map((name, i) => [name, i]));
	const system = systemColors(isDark);
	const module = (name: string) => {
		const i = place.get(name) ?? order.length;
		return moduleColor(HUES[i % HUES.length]!, isDark, !name || name.startsWith("["));
	};
	return {
		module,
		system,
		of(graph, i) {
			const { nodes } = graph;
			if (color === "system") {
				const share = nodes.value[i] ? (nodes.blocked[i] ?? 0) / nodes.value[i]! : 0;
				return system[Math.round(Math.min(1, Math.max(0, share)) * STEPS)]!;
			}
			return module(graph.modules[nodes.module[i]!] ?? "");
		},
		text: isDark ? "#e8eaed" : "#1b1f24",
		found: isDark ? "#b58900" : "#ffd54a",
		foundText: isDark ? "#fff" : "#1b1f24",
		dimmed: isDark ? "#2a2d31" : "#eef0f2",
	};
}

/** Modules of @graph by how much of the picture is theirs. */
export function modulesByWeight(graph: Flame): string[] {
	const own = new Map<string, number>();
	graph.nodes.value.forEach((value, i) => {
		const name = graph.modules[graph.nodes.module[i]!] ?? "";
		own.set(name, (own.get(name) ?? 0) + value);
	});
	return [...own].sort((a, b) => b[1] - a[1]).map(([name]) => name);
}
