/* Holds the one state, tells who draws it of changes, and keeps the address in step. */
import { fromHash, toHash } from "./link.ts";
import { isStep, update, type Action, type State } from "./state.ts";

type Listener = (state: State, before: State) => void;

export class Store {
	private now: State;
	private readonly listeners = new Set<Listener>();

	constructor(
		private readonly fresh: State,
		private readonly views: readonly string[],
	) {
		this.now = fromHash(location.hash, fresh, fresh, views);
		window.addEventListener("popstate", () => this.readAddress());
		window.addEventListener("hashchange", () => this.readAddress());
	}

	get state(): State {
		return this.now;
	}

	listen(listener: Listener): void {
		this.listeners.add(listener);
	}

	dispatch(action: Action): void {
		const before = this.now;
		this.now = update(before, action);
		const hash = "#" + toHash(this.now, this.fresh);
		if (hash !== location.hash)
			if (isStep(action)) history.pushState(null, "", hash);
			else history.replaceState(null, "", hash);
		for (const listener of this.listeners) listener(this.now, before);
	}

	/** The browser went back or forward, or somebody typed an address. */
	private readAddress(): void {
		const before = this.now;
		if ("#" + toHash(before, this.fresh) === location.hash) return;
		this.now = fromHash(location.hash, this.fresh, before, this.views);
		for (const listener of this.listeners) listener(this.now, before);
	}
}
