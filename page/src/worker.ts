/* The worker: unpacks engine and session, then answers requests in their order. */
import { unpack } from "./unpack.ts";
import { WasmEngine } from "./wasm.ts";

let engine: Promise<WasmEngine> | undefined;

/** @data: as they stand in a page, or as its server sends them. */
async function open(wasm: string, data: string | Uint8Array): Promise<WasmEngine> {
	const [code, session] = await Promise.all([unpack(wasm), unpack(data)]);
	const opened = new WasmEngine(await WebAssembly.compile(code as BufferSource), (text) => console.warn(text));
	opened.open(session);
	return opened;
}

self.onmessage = async ({ data }: MessageEvent<{ wasm?: string; data?: string | Uint8Array; id: number; text: string }>) => {
	if (data.wasm !== undefined) {
		engine = open(data.wasm, data.data ?? "");
		return;
	}
	try {
		const answer = (await engine)!.request(data.text);
		self.postMessage({ id: data.id, answer: JSON.parse(answer) as unknown });
	} catch (error) {
		self.postMessage({ id: data.id, answer: { error: (error as Error).message } });
	}
};
