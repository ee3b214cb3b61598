/*
 * What one place of the page shows is the answer to one question. While another is on its way, what
 * stands there is marked as old; if there is none, its error stands there instead, so that numbers
 * are never below a filter that is not theirs.
 */
import { Overtaken, type Client } from "./client.ts";

/** Where an answer is shown. */
export interface Place {
	/** Another answer is on its way. */
	waits(): void;
	/** It is here. */
	arrived(): void;
	/** There is none: nothing but @message may be seen. */
	failed(message: string): void;
}

export class Question<T> {
	private asked = "";
	private turn = 0;
	private isWaiting = false;
	private last: Promise<void> = Promise.resolve();

	/** @draw shows an answer, @drop forgets the one before it, for which there is no other. */
	constructor(
		private readonly client: Client,
		private readonly place: Place,
		private readonly draw: (answer: T) => void,
		private readonly drop: () => void = () => {},
	) {}

	/** Whether what stands there is old. */
	get waits(): boolean {
		return this.isWaiting;
	}

	/** When what stands there is what was asked for, or nothing is. */
	async settled(): Promise<void> {
		while (this.isWaiting) await this.last;
	}

	/**
	 * Asks @request, which @answer does if it takes more than one request; false = that is what was
	 * asked last.
	 */
	ask(request: object, answer: () => Promise<T> = () => this.client.ask<T>(request, this)): boolean {
		const asked = JSON.stringify(request);
		if (this.asked === asked) return false;
		this.asked = asked;
		this.isWaiting = true;
		this.place.waits();
		const turn = ++this.turn;
		const ends = (then: () => void) => {
			if (turn !== this.turn) return;
			this.isWaiting = false;
			then();
		};
		this.last = answer().then(
			(value) => ends(() => this.arrived(value)),
			(error: Error) => ends(() => this.failed(error)),
		);
		return true;
	}

	/** Nothing is asked any more, nor stands there. */
	forget(): void {
		this.turn++;
		this.asked = "";
		this.isWaiting = false;
		this.place.arrived();
		this.drop();
	}

	private arrived(value: T): void {
		this.place.arrived();
		this.draw(value);
	}

	/** The same is asked again when it is wanted again. */
	private failed(error: Error): void {
		this.asked = "";
		if (error instanceof Overtaken) return;
		this.drop();
		this.place.failed(error.message);
	}
}
