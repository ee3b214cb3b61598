/*
 * The engine as WebAssembly: what it imports of WASI, and texts across the border. It has no files,
 * no network and no arguments here; what it writes for people goes to @log.
 */

interface Exports {
	memory: WebAssembly.Memory;
	malloc(bytes: number): number;
	free(at: number): void;
	_initialize?(): void;
	dw_page_open(bytes: number, n: number): number;
	dw_page_request(text: number): number;
}

const SUCCESS = 0;
const BADF = 8;
const NOSYS = 52;

class Ended extends Error {}

/** Functions of wasi_snapshot_preview1; those that are not here say that they are not implemented. */
function imports(memory: () => WebAssembly.Memory, log: (text: string) => void): WebAssembly.ModuleImports {
	const view = () => new DataView(memory().buffer);
	const two = (first: number, second: number) => {
		view().setUint32(first, 0, true);
		view().setUint32(second, 0, true);
		return SUCCESS;
	};
	return {
		environ_sizes_get: two,
		args_sizes_get: two,
		environ_get: () => SUCCESS,
		args_get: () => SUCCESS,
		fd_prestat_get: () => BADF,
		clock_time_get(_id: number, _precision: bigint, at: number) {
			view().setBigUint64(at, BigInt(Math.round(performance.now() * 1e6)), true);
			return SUCCESS;
		},
		random_get(at: number, n: number) {
			crypto.getRandomValues(new Uint8Array(memory().buffer, at, n));
			return SUCCESS;
		},
		fd_fdstat_get: () => BADF,
		fd_write(_fd: number, vectors: number, n: number, written: number) {
			let total = 0;
			for (let i = 0; i < n; i++) {
				const at = view().getUint32(vectors + 8 * i, true);
				const bytes = view().getUint32(vectors + 8 * i + 4, true);
				log(new TextDecoder().decode(new Uint8Array(memory().buffer, at, bytes)));
				total += bytes;
			}
			view().setUint32(written, total, true);
			return SUCCESS;
		},
		proc_exit(status: number) {
			throw new Ended(`the engine ended with status ${status}`);
		},
	};
}

export class WasmEngine {
	private readonly exports: Exports;

	constructor(module: WebAssembly.Module, log: (text: string) => void) {
		const wasi: WebAssembly.ModuleImports = imports(() => this.exports.memory, log);
		const all: WebAssembly.Imports = {};
		for (const { module: from, name } of WebAssembly.Module.imports(module))
			(all[from] ??= {})[name] = wasi[name] ?? (() => NOSYS);
		this.exports = new WebAssembly.Instance(module, all).exports as unknown as Exports;
		this.exports._initialize?.();
	}

	/** Copies @bytes in; the engine keeps them. */
	private put(bytes: Uint8Array): number {
		const at = this.exports.malloc(bytes.length || 1);
		if (!at) throw new Error("the session does not fit into the memory that a page may have");
		new Uint8Array(this.exports.memory.buffer, at, bytes.length).set(bytes);
		return at;
	}

	/** Opens a session; what is wrong with it, the next request says. */
	open(session: Uint8Array): number {
		return this.exports.dw_page_open(this.put(session), session.length);
	}

	/** The answer's text. */
	request(text: string): string {
		const asked = this.put(new TextEncoder().encode(text + "\0"));
		const at = this.exports.dw_page_request(asked);
		this.exports.free(asked);
		const all = new Uint8Array(this.exports.memory.buffer);
		return new TextDecoder().decode(all.subarray(at, all.indexOf(0, at)));
	}
}
