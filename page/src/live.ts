/*
 * A recording that goes on: the page asks its server each second for what is new, and shows it where
 * somebody is, with all that he has chosen. One look at a time, the next when all of it is drawn; none
 * while the page is not seen.
 */
import { Overtaken } from "./client.ts";
import type { Server } from "./engine.ts";
import type { Context } from "./panel.ts";
import type { Look, Session } from "./protocol.ts";
import { makeSession } from "./session.ts";

interface Shown {
	/** Shows the same of a newer reading. */
	renew(session: Session): void;
	/** Says how it is with the recording. */
	say(words: string, isLive: boolean): void;
}

const FIRST_MS = 1000;
/** Who lets go of a button has clicked on what is still there. */
const CLICK_MS = 50;

let pressed = false;
let letGo: (() => void)[] = [];

for (const [name, is] of [["pointerdown", true], ["pointerup", false], ["pointercancel", false]] as const)
	globalThis.window?.addEventListener(name, () => {
		pressed = is;
		if (is) return;
		const waiting = letGo;
		letGo = [];
		setTimeout(() => waiting.forEach((go) => go()), CLICK_MS);
	}, true);

/** Until nobody holds a button: what he points at stays. */
export function handsOff(): Promise<void> {
	return pressed ? new Promise((resolve) => letGo.push(resolve)) : Promise.resolve();
}

function seen(): Promise<void> {
	if (!document.hidden) return Promise.resolve();
	return new Promise<void>((resolve) => document.addEventListener("visibilitychange", () => resolve(), { once: true })).then(seen);
}

function words({ state, file, problem }: Look, session: Session): string {
	if (state === "ended") return "";
	if (state === "left") return `left unfinished: its recorder is gone; "dwell recover ${file}" finishes it`;
	const since = session.recorded_at_ms ? ` since ${new Date(session.recorded_at_ms).toLocaleTimeString()}` : "";
	return `live${since}${problem ? `; nothing newer: ${problem}` : ""}`;
}

/** Takes over what @look is of; the finished session is this page's own. */
async function adopt(server: Server, { client }: Context, { reading, state }: Look): Promise<boolean> {
	if (state === "ended") client.renew(reading + 1, await server.finished());
	else if (reading === client.reading) return false;
	else client.renew(reading);
	return true;
}

/** Follows the recording until it is finished, or nobody serves the page any more. */
export async function follow(server: Server, context: Context, shown: Shown): Promise<void> {
	const { client } = context;
	let after = FIRST_MS;
	let isFirst = true;
	for (;;) {
		let look: Look;
		let isNew: boolean;
		try {
			if (!isFirst) await new Promise((resolve) => setTimeout(resolve, after));
			await seen();
			[look, isNew] = await client.alone(async () => {
				const now = await server.look();
				return [now, await adopt(server, context, now)] as const;
			});
			if (isNew) shown.renew(makeSession(await client.ask({ op: "open" })));
		} catch (error) {
			// Another tab has had it read again in between.
			if (error instanceof Overtaken) {
				isFirst = false;
				continue;
			}
			shown.say(`no longer followed: ${(error as Error).message}`, false);
			return;
		}
		isFirst = false;
		shown.say(words(look, context.session), look.state === "runs");
		if (look.state === "ended") return context.report("The recording has ended: this is the finished session.");
		after = look.after_ms;
	}
}
