// node page-engine.mjs PAGE.html: takes the engine and the session out of a page, as a browser does, and answers
// requests, one a line. What the engine imports of its system says that there is none.
import fs from "node:fs";
import zlib from "node:zlib";

const html = fs.readFileSync(process.argv[2], "utf8");
const part = (id) => zlib.gunzipSync(Buffer.from(html.match(new RegExp(`id="${id}"[^>]*>([^<]*)<`))[1].trim(), "base64"));
const BADF = 8;
let engine;
const system = new Proxy({}, {
    get: (_, name) => (...words) => {
        if (name === "proc_exit") throw new Error(`the engine ended with ${words[0]}`);
        if (name !== "clock_time_get") return BADF;
        new DataView(engine.memory.buffer).setBigUint64(words[2], process.hrtime.bigint(), true);
        return 0;
    },
});
const module = new WebAssembly.Module(part("engine"));
engine = new WebAssembly.Instance(module, {wasi_snapshot_preview1: system}).exports;
engine._initialize?.();

function put(bytes) {
    const at = engine.malloc(bytes.length);
    new Uint8Array(engine.memory.buffer, at, bytes.length).set(bytes);
    return at;
}

// Opened again and again: a session's bytes go with the page of the one before.
const session = part("data");
const status = engine.dw_page_open(put(session), session.length);
const before = engine.memory.buffer.byteLength;
const OPENINGS = 50;
for (let i = 0; i < OPENINGS; i++) engine.dw_page_open(put(session), session.length);
const grown = engine.memory.buffer.byteLength - before;
if (grown > (OPENINGS / 2) * session.length) throw new Error(`${grown} bytes more for ${OPENINGS} of ${session.length}`);
for (const line of fs.readFileSync(0, "utf8").split("\n").filter(Boolean)) {
    const text = put(new TextEncoder().encode(line + "\0"));
    const answer = engine.dw_page_request(text);
    engine.free(text);
    const memory = new Uint8Array(engine.memory.buffer);
    process.stdout.write(Buffer.from(memory.subarray(answer, memory.indexOf(0, answer))));
}
process.exitCode = status ? 1 : 0;
