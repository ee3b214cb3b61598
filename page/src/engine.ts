/* The way to the engine: a worker, made of code that this very file holds. */
import type { Engine } from "./protocol.ts";

/** The worker's code; build.mjs puts it here. */
declare const WORKER_CODE: string;

function workerEngine(wasm: string, data: string): Engine {
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

/** The engine of this page, with its session. */
export function pageEngine(): Engine {
	return workerEngine(block("engine"), block("data"));
}
