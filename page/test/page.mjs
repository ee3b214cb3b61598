/* A browser with the page in it, and hands and eyes for tests. Requests are counted, and refused. */
import { chromium } from "playwright-core";

const PROGRAMS = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"];

/** Runs in the page before its own code: lets tests make the engine slow, or unable. */
function holdEngine() {
	const post = Worker.prototype.postMessage;
	const engine = {
		/** Operations that the engine is not to know, and those that wait until they are let go. */
		fails: [], holds: [], held: [],
		letGo() {
			engine.holds = [];
			for (const go of engine.held.splice(0)) go();
		},
	};
	window.engine = engine;
	Worker.prototype.postMessage = function (message, ...rest) {
		const { op } = JSON.parse(message.text ?? "{}");
		const sent = engine.fails.includes(op) ? { ...message, text: JSON.stringify({ op: "unknown" }) } : message;
		if (engine.holds.includes(op)) engine.held.push(() => post.call(this, sent, ...rest));
		else post.call(this, sent, ...rest);
	};
}

export class Page {
	static async open(address, options = {}) {
		const { existsSync } = await import("node:fs");
		const executablePath = process.env.CHROMIUM ?? PROGRAMS.find((name) => existsSync(name));
		const browser = await chromium.launch({ executablePath, args: ["--no-sandbox", "--disable-gpu"] });
		const context = await browser.newContext({
			viewport: { width: 1600, height: 900 }, offline: true, permissions: ["clipboard-read", "clipboard-write"], ...options,
		});
		await context.addInitScript(holdEngine);
		return new Page(browser, await context.newPage(), address);
	}

	constructor(browser, page, address) {
		Object.assign(this, { browser, page, address, requests: [], errors: [] });
		page.on("pageerror", (error) => this.errors.push(error.message));
		page.on("console", (message) => message.type() === "error" && this.errors.push(message.text()));
		page.on("request", (request) => {
			const url = request.url();
			if (url !== address && !url.startsWith(`${address}#`) && !url.startsWith("blob:")) this.requests.push(url);
		});
	}

	/** Goes to the state of @hash and waits until it is shown. */
	async go(hash) {
		await this.page.goto("about:blank");
		await this.page.goto(`${this.address}#${hash}`);
		await this.page.waitForSelector("nav.tabs [aria-selected=true]", { timeout: 60_000 });
		await this.settle();
	}

	/** Makes the engine fail at operations @fails, and wait with @holds until let go. */
	tamper(fails, holds = []) {
		return this.page.evaluate(([fails, holds]) => Object.assign(window.engine, { fails, holds }), [fails, holds]);
	}

	/** Goes to the state of @hash within the page, as a link in it would. */
	async turn(hash) {
		await this.page.evaluate((to) => (location.hash = to), hash);
		await this.settle();
	}

	/** Waits until the engine has nothing to do and what it said is drawn. */
	async settle() {
		await this.page.evaluate(async () => {
			const frame = () => new Promise((resolve) => requestAnimationFrame(resolve));
			for (let quiet = 0; quiet < 4; quiet++) {
				await frame();
				if (document.documentElement.hasAttribute("data-busy") || document.querySelector(".coming, [aria-busy]")) quiet = 0;
			}
		});
	}

	async press(...keys) {
		for (const key of keys) {
			await this.page.keyboard.press(key);
			await this.settle();
		}
	}

	async click(selector) {
		await this.page.click(selector);
		await this.settle();
	}

	/** Types into the search field. */
	async search(text) {
		await this.page.fill("header input[type=search]", text);
		await this.page.waitForTimeout(200);
		await this.settle();
	}

	hash() {
		return this.page.evaluate(() => new URLSearchParams(location.hash.slice(1)).toString());
	}

	text(selector) {
		return this.page.textContent(selector);
	}

	/** Views that have a tab, by the names of reports. */
	tabs() {
		return this.page.$$eval("nav.tabs [role=tab]", (all) => all.map((tab) => tab.id.slice(4)));
	}

	/** The table in sight: ids of its columns, and its rows of texts with level and place. */
	table() {
		return this.page.evaluate(() => {
			const grid = [...document.querySelectorAll("main .grid")].find((one) => one.offsetParent);
			const heads = [...grid.querySelectorAll("[role=columnheader]")].map((cell) => cell.dataset.column);
			const isPicture = (i) => heads[i] === "fate";
			const columns = heads.filter((_, i) => !isPicture(i));
			const rows = [...grid.querySelectorAll(".grid-row")]
				.map((row) => ({
					at: Number(row.dataset.row),
					level: Number(row.getAttribute("aria-level") ?? 1) - 1,
					cells: [...row.children].filter((_, i) => !isPicture(i)).map((cell) => (cell.querySelector(".name-text") ?? cell).textContent),
					fate: row.querySelector(".fate")?.getAttribute("aria-label"),
					name: row.querySelector(".name-text")?.dataset.tip,
				}))
				.sort((a, b) => a.at - b.at);
			return { columns, rows, total: Number(grid.getAttribute("aria-rowcount")) - 1 };
		});
	}

	close() {
		return this.browser.close();
	}
}

/** Run those of @tests that are called so, in TAP, and close the page. */
export async function runTests(tests, names, page) {
	console.log(`1..${names.length}`);
	for (const [i, name] of names.entries()) {
		try {
			await tests[name]();
			console.log(`ok ${i + 1} - ${name}`);
		} catch (error) {
			process.exitCode = 1;
			console.log(`# ${String(error.stack ?? error).split("\n").slice(0, 12).join("\n# ")}\nnot ok ${i + 1} - ${name}`);
		}
	}
	await page.close();
}
