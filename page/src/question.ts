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
	private about = "";
	private reading = 0;
	private turn = 0;
	private isWaiting = false;
	private last: Promise<void> = Promise.resolve();

	/**
	 * @draw shows an answer, which may be but a newer one to the same question; @drop forgets the one
	 * before it, for which there is no other.
	 */
	constructor(
		private readonly client: Client,
		private readonly place: Place,
		private readonly draw: (answer: T, isRenewed: boolean) => void,
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
	 * Asks @request, which @answer does if it takes more than one request; true = that is another
	 * question than the one before. The same is asked again of a newer reading of the session, or if
	 * requests for what it is @about differ; what stands there stays until the answer is here.
	 */
	ask(request: object, answer: () => Promise<T> = () => this.client.ask<T>(request, this), about: object = request): boolean {
		const asked = JSON.stringify(request);
		const what = JSON.stringify(about);
		const isOther = this.about !== what;
		if (this.asked === asked && this.reading === this.client.reading) return false;
		this.asked = asked;
		this.about = what;
		this.reading = this.client.reading;
		const isRenewed = !isOther && !this.isWaiting;
		if (!isRenewed) {
			this.isWaiting = true;
			this.place.waits();
		}
		const turn = ++this.turn;
		const ends = async (then: () => void) => {
			if (isRenewed) await this.client.calm();
			if (turn !== this.turn) return;
			this.isWaiting = false;
			then();
		};
		this.last = answer().then(
			(value) => ends(() => this.arrived(value, isRenewed)),
			(error: Error) => ends(() => this.failed(error)),
		);
		return isOther;
	}

	/** Nothing is asked any more, nor stands there. */
	forget(): void {
		this.turn++;
		this.asked = this.about = "";
		this.isWaiting = false;
		this.place.arrived();
		this.drop();
	}

	private arrived(value: T, isRenewed: boolean): void {
		this.place.arrived();
		this.draw(value, isRenewed);
	}

	/** The same is asked again when it is wanted again. */
	private failed(error: Error): void {
		this.asked = "";
		if (error instanceof Overtaken) return;
		this.about = "";
		this.drop();
		this.place.failed(error.message);
	}
}
