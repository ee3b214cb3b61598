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
	/** A request of the engine, or what is to be done while nobody asks it anything. */
	work: object | (() => Promise<unknown>);
	/** The reading that it is of; undefined = the newest by then. */
	reading: number | undefined;
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
	private now = 0;

	/** Told whenever the engine begins to work or has nothing left to do. */
	onbusy: (busy: boolean) => void = () => {};
	/** What changes by itself waits for this. */
	calm: () => Promise<void> = () => Promise.resolve();

	constructor(private engine: Engine) {}

	/** Of a session that changes: the number of what was read last. */
	get reading(): number {
		return this.now;
	}

	/** From now on it is another reading, or another engine. What was asked of one before is overtaken. */
	renew(reading: number, engine: Engine = this.engine): void {
		this.now = reading;
		this.engine = engine;
		this.cache.clear();
	}

	/** The answer to @asked, of the reading that it names. What @asker has asked before is overtaken; without one nothing is. */
	ask<T>(asked: object, asker?: object): Promise<T> {
		const { reading, ...rest } = asked as { reading?: number };
		const request = wired(rest);
		if (asker) this.overtake(asker);
		if (reading !== undefined && reading !== this.now) return Promise.reject(new Overtaken());
		const cached = this.cache.get(JSON.stringify(request));
		if (cached !== undefined) return Promise.resolve(cached as T);
		return this.add<T>(request, reading, asker);
	}

	/** Does @work when all that was asked before is answered; what is asked meanwhile waits. */
	alone<T>(work: () => Promise<T>): Promise<T> {
		return this.add<T>(work, undefined, undefined);
	}

	private add<T>(work: Waiting["work"], reading: number | undefined, asker: object | undefined): Promise<T> {
		return new Promise<T>((resolve, reject) => {
			this.queue.push({ work, reading, asker, resolve: resolve as (answer: unknown) => void, reject });
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

	private async answer({ work, reading }: Waiting): Promise<unknown> {
		if (typeof work === "function") return (work as () => Promise<unknown>)();
		if (reading !== undefined && reading !== this.now) throw new Overtaken();
		// Somebody else may have asked the same meanwhile.
		const cached = this.cache.get(JSON.stringify(work));
		if (cached !== undefined) return cached;
		const answer = (await this.engine.request(work, this.now)) as { error?: string; is_old?: boolean };
		if (answer.is_old) throw new Overtaken();
		if (answer.error) throw new Error(answer.error);
		this.keep(work, answer);
		return answer;
	}

	private async work(): Promise<void> {
		this.onbusy(true);
		while ((this.current = this.queue.shift())) {
			const { resolve, reject } = this.current;
			await this.answer(this.current).then(resolve, reject);
		}
		this.onbusy(false);
	}
}
