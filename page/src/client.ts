/*
 * The page's side of the engine: one request at a time, so that an answer nobody waits for any more
 * is never computed. Of requests with one key only the newest counts; those before it are dropped.
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
	key: string;
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
	private busy = false;
	private readonly cache = new Map<string, unknown>();

	/** Told whenever the engine begins to work or has nothing left to do. */
	onbusy: (busy: boolean) => void = () => {};

	constructor(private readonly engine: Engine) {}

	/** The answer to @request. @key names what it is for, such as a table; "" = nothing overtakes it. */
	ask<T>(asked: object, key = ""): Promise<T> {
		const request = wired(asked);
		if (key)
			this.queue = this.queue.filter((other) => {
				if (other.key === key) other.reject(new Overtaken());
				return other.key !== key;
			});
		const cached = this.cache.get(JSON.stringify(request));
		if (cached !== undefined) return Promise.resolve(cached as T);
		return new Promise<T>((resolve, reject) => {
			this.queue.push({ request, key, resolve: resolve as (answer: unknown) => void, reject });
			void this.work();
		});
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
		if (this.busy) return;
		this.busy = true;
		this.onbusy(true);
		for (let next = this.queue.shift(); next; next = this.queue.shift()) {
			try {
				const answer = await this.engine.request(next.request);
				const error = (answer as { error?: string }).error;
				if (error) throw new Error(error);
				this.keep(next.request, answer);
				next.resolve(answer);
			} catch (error) {
				next.reject(error as Error);
			}
		}
		this.busy = false;
		this.onbusy(false);
	}
}

/** Shows failures of @work by @report, but for requests that were overtaken. */
export function unlessOvertaken(work: Promise<void>, report: (message: string) => void): void {
	work.catch((error: Error) => {
		if (!(error instanceof Overtaken)) report(error.message);
	});
}
