/*
 * The page's side of the engine: one request at a time, so that an answer nobody waits for any more
 * is never computed. Of the requests of one asker only the newest counts: those before it are
 * dropped, and what the engine still says to them is not told.
 */
import type { Engine, Filter } from "./protocol.ts";

/** Thrown to those whose request was overtaken: they need do nothing. */
export class Overtaken extends Error {
	constructor() {
		super("overtaken by a newer request");
	}
}

interface Waiting {
	request: object;
	asker: object | undefined;
	resolve: (answer: unknown) => void;
	reject: (error: Error) => void;
}

const CACHED = 64;
/** Answers with more are whole tables, copied once. */
const CACHED_ROWS = 1000;

/**
 * The filter as the engine takes it: modules are patterns there, and what folds the system's code is
 * called otherwise.
 */
function wired(request: object): object {
	const { filter, ...rest } = request as { filter?: Filter };
	if (!filter) return request;
	const { just_my_code, ...others } = filter;
	if (others.module) others.module = others.module.map((name) => name.replace(/[[*?\\]/g, "[$&]"));
	return { ...rest, filter: just_my_code ? { ...others, all_code: false } : others };
}

export class Client {
	private queue: Waiting[] = [];
	private current: Waiting | undefined;
	private readonly cache = new Map<string, unknown>();

	/** Told whenever the engine begins to work or has nothing left to do. */
	onbusy: (busy: boolean) => void = () => {};

	constructor(private readonly engine: Engine) {}

	/** The answer to @request. What @asker has asked before is overtaken; without one nothing is. */
	ask<T>(asked: object, asker?: object): Promise<T> {
		const request = wired(asked);
		if (asker) this.overtake(asker);
		const cached = this.cache.get(JSON.stringify(request));
		if (cached !== undefined) return Promise.resolve(cached as T);
		return new Promise<T>((resolve, reject) => {
			this.queue.push({ request, asker, resolve: resolve as (answer: unknown) => void, reject });
			if (!this.current) void this.work();
		});
	}

	/** Drops what @asker waits for, also what the engine is working at. */
	overtake(asker: object): void {
		for (const waiting of [...this.queue, this.current]) if (waiting?.asker === asker) waiting.reject(new Overtaken());
		this.queue = this.queue.filter((waiting) => waiting.asker !== asker);
	}

	private keep(request: object, answer: unknown): void {
		if (((request as { count?: number }).count ?? 0) > CACHED_ROWS) return;
		this.cache.set(JSON.stringify(request), answer);
		for (const oldest of this.cache.keys()) {
			if (this.cache.size <= CACHED) break;
			this.cache.delete(oldest);
		}
	}

	private async work(): Promise<void> {
		this.onbusy(true);
		while ((this.current = this.queue.shift())) {
			const { request, resolve, reject } = this.current;
			try {
				const answer = await this.engine.request(request);
				const error = (answer as { error?: string }).error;
				if (error) throw new Error(error);
				this.keep(request, answer);
				resolve(answer);
			} catch (error) {
				reject(error as Error);
			}
		}
		this.onbusy(false);
	}
}
