/*
 * Builds the page without its data: node build.mjs [OUT]. One file, OUT (dist/page.html), with style
 * and script in it and a content-security policy of their hashes; `dwell export` puts the engine and
 * a session in the places @ENGINE@ and @DATA@, and @CONNECT@ of the policy says whether it may ask its server.
 */
import { createHash } from "node:crypto";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const here = dirname(fileURLToPath(import.meta.url));

/** The code of @entry and all that it imports. */
async function bundle(entry, define = {}) {
	const done = await build({
		entryPoints: [join(here, "src", entry)],
		bundle: true,
		write: false,
		format: "iife",
		target: "es2022",
		minify: true,
		charset: "utf8",
		legalComments: "none",
		define,
	});
	return done.outputFiles[0].text;
}

function hash(text) {
	return `'sha256-${createHash("sha256").update(text).digest("base64")}'`;
}

/** @name's text in place of the one "@name@" of @page. */
function put(page, name, text) {
	const parts = page.split(`@${name}@`);
	if (parts.length !== 2) throw new Error(`page.html must have one @${name}@`);
	return parts.join(text);
}

/** The whole page. */
async function makePage() {
	const worker = await bundle("worker.ts");
	const script = (await bundle("main.ts", { WORKER_CODE: JSON.stringify(worker) })).replaceAll("</script", "<\\/script");
	const style = (
		await build({ entryPoints: [join(here, "page.css")], write: false, minify: true, charset: "utf8" })
	).outputFiles[0].text;
	const allowed =
		`default-src 'none'; script-src ${hash(script)} 'wasm-unsafe-eval'; style-src ${hash(style)}; ` +
		`worker-src blob:; connect-src @CONNECT@; base-uri 'none'; form-action 'none'`;
	let page = readFileSync(join(here, "page.html"), "utf8");
	page = put(page, "CSP", allowed);
	page = put(page, "STYLE", style);
	return put(page, "SCRIPT", script);
}

const out = process.argv[2] ?? join(here, "dist", "page.html");
mkdirSync(dirname(out), { recursive: true });
writeFileSync(out, await makePage());
