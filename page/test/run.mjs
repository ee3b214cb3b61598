/* Runs the unit tests, *.test.ts beside this file: bundled for node, since it may not read types itself. */
import { spawnSync } from "node:child_process";
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const here = dirname(fileURLToPath(import.meta.url));
const out = mkdtempSync(join(tmpdir(), "dwell-page-"));
const tests = readdirSync(here).filter((name) => name.endsWith(".test.ts"));
await build({
	entryPoints: tests.map((name) => join(here, name)),
	bundle: true, platform: "node", format: "esm", outdir: out, outExtension: { ".js": ".mjs" }, logLevel: "warning",
});
const files = tests.map((name) => join(out, name.replace(/\.ts$/, ".mjs")));
const done = spawnSync(process.execPath, ["--test", "--test-reporter=tap", ...files], { stdio: "inherit" });
rmSync(out, { recursive: true });
process.exitCode = done.status ?? 1;
