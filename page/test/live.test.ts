/* Following a recording: what another tab does to it meanwhile. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { Client } from "../src/client.ts";
import type { Server } from "../src/engine.ts";
import { follow } from "../src/live.ts";
import type { Context } from "../src/panel.ts";
import type { Look, Session } from "../src/protocol.ts";

test("a reading that another tab has overtaken is followed by the next one", async () => {
	(globalThis as unknown as { document: object }).document = { hidden: false };
	const asked: number[] = [];
	const engine = {
		request: (_: object, reading: number) => {
			asked.push(reading);
			return Promise.resolve(reading === 2 ? { is_old: true } : { method: ["sampling"], views: [], measures: [], processes: [], modules: [] });
		},
	};
	const looks = [2, 3].map((reading): Look => ({ reading, state: "runs", file: "a.partial", after_ms: 0 }));
	const server = {
		look: () => {
			const look = looks.shift();
			return look ? Promise.resolve(look) : Promise.reject(new Error("it has ended"));
		},
	};
	const client = new Client(engine);
	client.renew(1);
	const said: string[] = [];
	let shown = 0;
	await follow(server as unknown as Server, { client, session: {} as Session } as Context, {
		renew: () => shown++,
		say: (words) => said.push(words),
	});
	assert.deepEqual(asked, [2, 3]);
	assert.equal(shown, 1);
	assert.deepEqual(said, ["live", "no longer followed: it has ended"]);
});
