/*
 * The ways to the engine: a worker, made of code that this very file holds; and, as long as a recording
 * goes on, the program that serves the page, which can read what is being written.
 */
import type { Engine, Look } from "./protocol.ts";

/** The worker's code; build.mjs puts it here. */
declare const WORKER_CODE: string;

function workerEngine(wasm: string, data: string | Uint8Array): Engine {
	const worker = new Worker(URL.createObjectURL(new Blob([WORKER_CODE], { type: "text/javascript" })));
	const waiting = new Map<number, (answer: unknown) => void>();
	let ids = 0;
	worker.onmessage = ({ data }: MessageEvent<{ id: number; answer: unknown }>) => {
		waiting.get(data.id)?.(data.answer);
		waiting.delete(data.id);
	};
	worker.onerror = (event) => {
		for (const resolve of waiting.values()) resolve({ error: `the engine failed: ${event.message}` });
		waiting.clear();
	};
	worker.postMessage({ wasm, data });
	return {
		request: (request) =>
			new Promise((resolve) => {
				waiting.set(++ids, resolve);
				worker.postMessage({ id: ids, text: JSON.stringify(request) });
			}),
	};
}

/** The text of the data block @id; it is taken out of the page, so that it is in memory once. */
function block(id: string): string {
	const element = document.getElementById(id);
	const text = element?.textContent ?? "";
	element?.remove();
	return text.trim();
}

/** The program that this page comes from. */
export class Server implements Engine {
	constructor(private readonly wasm: string) {}

	private async post(what: string, body = ""): Promise<Response> {
		const answer = await fetch(what, { method: "POST", body, cache: "no-store" }).catch(() => undefined);
		if (!answer?.ok) throw new Error("dwell view, which the page comes from, has ended");
		return answer;
	}

	async request(request: object, reading: number): Promise<unknown> {
		return (await this.post(`ask?${reading}`, JSON.stringify(request))).json();
	}

	async look(): Promise<Look> {
		return (await this.post("look")).json() as Promise<Look>;
	}

	/** The finished session, in this page's own engine. */
	async finished(): Promise<Engine> {
		return workerEngine(this.wasm, new Uint8Array(await (await this.post("session")).arrayBuffer()));
	}
}

/** The engine of this page, with its session; without one whom it comes from. */
export function pageEngine(): Engine | Server {
	const wasm = block("engine");
	const data = block("data");
	return data ? workerEngine(wasm, data) : new Server(wasm);
}
