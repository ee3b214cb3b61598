/* The worker: unpacks engine and session, then answers requests in their order. */
import { unpack } from "./unpack.ts";
import { WasmEngine } from "./wasm.ts";

let engine: Promise<WasmEngine> | undefined;

async function open(wasm: string, data: string): Promise<WasmEngine> {
	const [code, session] = await Promise.all([unpack(wasm), unpack(data)]);
	const opened = new WasmEngine(await WebAssembly.compile(code as BufferSource), (text) => console.warn(text));
	opened.open(session);
	return opened;
}

self.onmessage = async ({ data }: MessageEvent<{ wasm?: string; data?: string; id: number; text: string }>) => {
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
