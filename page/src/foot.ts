/* The foot: how far to trust the numbers, what went wrong, and whether something is being computed. */
import { el } from "./dom.ts";
import { bytes, duration, grouped } from "./format.ts";
import { shown } from "./names.ts";
import type { Session } from "./protocol.ts";
import type { Place } from "./question.ts";

const SAID_MS = 8000;
const BUSY_AFTER_MS = 80;
const BUSY_LIVE_MS = 1500;

/** Facts of an answer in words, of those that there are. */
export function factsInWords(facts: Record<string, unknown>): string[] {
	const n = (key: string) => (typeof facts[key] === "number" ? (facts[key] as number) : undefined);
	const words: string[] = [];
	const say = (key: string, text: (value: number) => string, always = true) => {
		const value = n(key);
		if (value !== undefined && (always || value)) words.push(text(value));
	};
	say("samples_reported", (v) => `${grouped(v)} samples of ${grouped(n("samples_kept") ?? v)}`);
	say("samples_lost", (v) => `${grouped(v)} lost`, false);
	say("stacks_cut", (v) => `${grouped(v)} stacks cut`, false);
	say("number_of_calls", (v) => `${grouped(v)} calls`);
	say("elapsed_inclusive_time", (v) => `${duration(v)} elapsed`);
	say("time_inclusive_probe_overhead", (v) => `${duration(v)} in probes, taken off`, false);
	say("inclusive_allocations", (v) => `${grouped(v)} objects`);
	say("inclusive_bytes", (v) => bytes(v));
	say("objects_lost", (v) => `${grouped(v)} lost`, false);
	return words;
}

export class Foot implements Place {
	readonly element: HTMLElement;
	private readonly words = el("span.facts");
	private readonly message = el("span.message", { role: "status" });
	private readonly progress = el("span.busy", { hidden: true }, "computing …");
	private timer = 0;
	private busyTimer = 0;

	/** @isLive: something is computed all the time, which need not be said. */
	constructor(session: Session, private readonly isLive = false) {
		const when = session.recorded_at_ms ? new Date(session.recorded_at_ms).toLocaleString() : "";
		this.element = el("footer", {}, this.words, el("span.grow"), this.message, this.progress,
			el("span.quiet", {}, [when && `recorded ${when}`, "dwell"].filter(Boolean).join(" · ")));
	}

	facts(facts: Record<string, unknown>): void {
		this.words.textContent = factsInWords(facts).join(" · ");
	}

	waits(): void {
		this.words.setAttribute("aria-busy", "true");
	}

	arrived(): void {
		this.words.removeAttribute("aria-busy");
	}

	/** The facts are not to be had. */
	failed(message: string): void {
		this.arrived();
		this.facts({});
		this.say(message);
	}

	say(message: string): void {
		this.message.textContent = shown(message);
		clearTimeout(this.timer);
		this.timer = window.setTimeout(() => (this.message.textContent = ""), SAID_MS);
	}

	busy(is: boolean): void {
		clearTimeout(this.busyTimer);
		if (is) this.busyTimer = window.setTimeout(() => (this.progress.hidden = false), this.isLive ? BUSY_LIVE_MS : BUSY_AFTER_MS);
		else this.progress.hidden = true;
		document.documentElement.toggleAttribute("data-busy", is);
	}
}
