/* Answers that come late, in another order, or not at all: no old one is ever taken for the new. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { Client, Overtaken } from "../src/client.ts";
import type { Engine, Rows, TreeRows } from "../src/protocol.ts";
import { Question, type Place } from "../src/question.ts";
import { ListSource, TreeSource, WINDOW } from "../src/source.ts";

type Request = Record<string, unknown>;

/** An engine that answers when a test says so. */
class SlowEngine implements Engine {
	readonly asked: Request[] = [];
	private answers: ((answer: unknown) => void)[] = [];

	request(request: object): Promise<unknown> {
		this.asked.push(request as Request);
		return new Promise((resolve) => this.answers.push(resolve));
	}

	/** Answers what it was asked first of what waits, and lets the page take it. */
	async answer(answer: unknown): Promise<void> {
		this.answers.shift()!(answer);
		await turns();
	}
}

/** Lets everything that can happen without the engine happen. */
function turns(): Promise<void> {
	return new Promise((resolve) => setImmediate(resolve));
}

/** A place of the page that notes what is seen there. */
class Seen implements Place {
	text = "";
	isOld = false;

	waits = () => void (this.isOld = true);
	arrived = () => void (this.isOld = false);
	failed = (message: string) => {
		this.isOld = false;
		this.text = message;
	};
}

function page(): { engine: SlowEngine; client: Client; seen: Seen; question: Question<string>; dropped: () => number } {
	const engine = new SlowEngine();
	const client = new Client(engine);
	const seen = new Seen();
	let dropped = 0;
	const question = new Question<string>(client, seen, (answer) => (seen.text = answer), () => dropped++);
	return { engine, client, seen, question, dropped: () => dropped };
}

test("an answer that was overtaken is not shown, though the engine was at it", async () => {
	const { engine, seen, question } = page();
	question.ask({ op: "a" });
	question.ask({ op: "b" });
	await engine.answer("of a");
	assert.deepEqual([seen.text, seen.isOld], ["", true]);
	await engine.answer("of b");
	assert.deepEqual([seen.text, seen.isOld], ["of b", false]);
});

test("what waits is dropped unasked, what nobody overtook is not", async () => {
	const { engine, client } = page();
	const [asker, other] = [{}, {}];
	const all = [client.ask({ op: "a" }, asker), client.ask({ op: "b" }, asker), client.ask({ op: "c" }, asker),
		client.ask({ op: "d" }, other), client.ask({ op: "e" })].map((one) => one.catch((error: Error) => error));
	for (const answer of ["of a", "of c", "of d", "of e"]) await engine.answer(answer);
	assert.deepEqual(engine.asked, [{ op: "a" }, { op: "c" }, { op: "d" }, { op: "e" }]);
	const [a, b, ...rest] = await Promise.all(all);
	assert.ok(a instanceof Overtaken && b instanceof Overtaken);
	assert.deepEqual(rest, ["of c", "of d", "of e"]);
});

test("an error of an overtaken request is not told", async () => {
	const { engine, seen, question } = page();
	question.ask({ op: "a" });
	question.ask({ op: "b" });
	await engine.answer({ error: "a is bad" });
	await engine.answer("of b");
	assert.equal(seen.text, "of b");
});

test("there and back again: the first question's end is not taken for the third's", async () => {
	const { engine, seen, question } = page();
	for (const op of ["a", "b", "a"]) question.ask({ op });
	await engine.answer({ error: "the first time" });
	assert.deepEqual([seen.text, seen.isOld], ["", true]);
	await engine.answer("of a");
	assert.deepEqual([seen.text, seen.isOld], ["of a", false]);
});

test("the same is asked once, though two want to know before the answer is here", async () => {
	const { engine, client } = page();
	const both = [client.ask({ op: "a" }), client.ask({ op: "a" }), client.ask({ op: "a" }, {})];
	await engine.answer("of a");
	assert.deepEqual(await Promise.all(both), ["of a", "of a", "of a"]);
	assert.equal(engine.asked.length, 1);
});

test("of a newer reading the same is asked again, and what is there stays until it is here", async () => {
	const { engine, client, seen, question, dropped } = page();
	question.ask({ op: "a" });
	await engine.answer("of a");
	client.renew(2);
	assert.ok(!question.ask({ op: "a" }), "it is no other question");
	assert.deepEqual([seen.text, seen.isOld, question.waits], ["of a", false, false]);
	let letGo = () => {};
	client.calm = () => new Promise((resolve) => (letGo = resolve));
	await engine.answer("newer");
	assert.equal(seen.text, "of a", "somebody points at it");
	letGo();
	await turns();
	assert.deepEqual([seen.text, dropped()], ["newer", 0]);
	assert.equal(engine.asked.length, 2);
});

test("ids of one reading are not asked of another", async () => {
	const { engine, client } = page();
	await assert.rejects(client.ask({ op: "tree", reading: 7 }), Overtaken);
	const waits = client.ask({ op: "rows" });
	const tree = assert.rejects(client.ask({ op: "tree", reading: 0 }), Overtaken);
	const later = client.ask({ op: "open" });
	const change = client.alone(async () => client.renew(1));
	const refused = assert.rejects(client.ask({ op: "tree", node: 3, reading: 0 }), Overtaken);
	await engine.answer({});
	await engine.answer({ is_old: true });
	await engine.answer({});
	await Promise.all([waits, tree, later, change, refused]);
	assert.deepEqual(engine.asked.map(({ op }) => op), ["rows", "tree", "open"]);
});

test("after an error nothing old is left, and the same may be asked again", async () => {
	const { engine, seen, question, dropped } = page();
	question.ask({ op: "a" });
	await engine.answer("of a");
	question.ask({ op: "b" });
	assert.ok(seen.isOld && question.waits);
	await engine.answer({ error: "b is bad" });
	assert.deepEqual([seen.text, seen.isOld, dropped()], ["b is bad", false, 1]);
	assert.ok(question.ask({ op: "b" }));
	await engine.answer("of b");
	assert.equal(seen.text, "of b");
	assert.ok(!question.ask({ op: "b" }), "it is there");
});

test("answers are kept", async () => {
	const { engine, seen, question } = page();
	for (const op of ["a", "b"]) {
		question.ask({ op });
		await engine.answer(`of ${op}`);
	}
	question.ask({ op: "a" });
	await turns();
	assert.deepEqual([seen.text, engine.asked.length], ["of a", 2]);
});

test("what is settled is what was asked last", async () => {
	const { engine, seen, question } = page();
	question.ask({ op: "a" });
	const settled = question.settled().then(() => seen.text);
	question.ask({ op: "b" });
	await engine.answer("of a");
	await engine.answer("of b");
	assert.equal(await settled, "of b");
});

/** Children of node @node of a tree in which each node has two, 3 levels deep. */
function children(node: number): TreeRows {
	const ids = [2 * node + 1, 2 * node + 2];
	return { total: 2, ids, rows: ids.map((id) => [`n${id}`]), functions: ids, has_children: ids.map((id) => id < 7) };
}

test("a tree that nobody looks at any more asks no further", async () => {
	const { engine, client } = page();
	const open = new Set(["\nn1", "\nn2"]);
	const tree = new TreeSource(client, { op: "tree" }, ([name]) => String(name), open);
	const opened = tree.open({}).catch((error: Error) => error);
	await engine.answer(children(0));
	tree.abandon();
	await engine.answer(children(1));
	assert.ok((await opened) instanceof Overtaken);
	assert.deepEqual(engine.asked.map(({ node }) => node), [0, 1]);
});

test("opening all below a row stops where nobody reads on", async () => {
	const { engine, client } = page();
	const tree = new TreeSource(client, { op: "tree" }, ([name]) => String(name), new Set(["none"]));
	const opened = tree.open({});
	await engine.answer(children(0));
	await opened;
	const below = tree.openBelow(0, 6, 4);
	await engine.answer(children(1));
	await engine.answer(children(3));
	assert.equal(await below, false);
	assert.deepEqual([tree.total, engine.asked.length], [6, 3]);
});

test("a long list fetches one window at a time, and then what is in sight by then", async () => {
	const { engine, client } = page();
	const list = new ListSource(client, { op: "rows", view: "functions", filter: {}, columns: ["name"] }, [0], assert.fail);
	const windowAt = ({ from }: Request): Rows => ({
		total: 10 * WINDOW, ids: [], rows: Array.from({ length: WINDOW }, (_, i) => [`row ${Number(from) + i}`]),
	});
	const opened = list.open({});
	await engine.answer(windowAt(engine.asked[0]!));
	await opened;
	let sight = [3 * WINDOW, 4 * WINDOW];
	list.onchange = () => sight.forEach((i) => list.row(i));
	list.onchange();
	sight = [7 * WINDOW - 1, 7 * WINDOW];
	for (let i = 1; i < 4; i++) await engine.answer(windowAt(engine.asked[i]!));
	assert.deepEqual(engine.asked.map(({ from }) => Number(from) / WINDOW), [0, 3, 6, 7]);
	assert.deepEqual(sight.map((i) => list.row(i)?.cells[0]), [`row ${7 * WINDOW - 1}`, `row ${7 * WINDOW}`]);
	list.abandon();
	assert.equal(list.row(9 * WINDOW), undefined);
	assert.equal(engine.asked.length, 4);
});
