// Work of known shares: each part of the list runs for its share of processor time, measured by the
// program itself, and is told at the end: NAME NANOSECONDS. Usage: shares.js MILLISECONDS [OPTIONS]
// "move": functions are made anew all the time, so that their code comes and goes.
"use strict";

function now() {
    const used = process.cpuUsage();
    return (used.user + used.system) * 1000;
}

function half(n) {
    let sum = 1;
    for (let i = 0; i < n; i++) sum = (sum * 31 + i) | 0;
    return sum;
}

function floats(n) {
    let sum = 0.5;
    for (let i = 0; i < n; i++) sum = sum * 0.999 + 1 / (i + 1);
    return sum | 0;
}

const bytes = new Uint8Array(4096);

function memory(n) {
    for (let i = 0; i < n; i++) bytes[(i * 7) & 4095] += i;
    return bytes[7];
}

class Box {
    constructor() { this.list = [1, 2, 3, 4]; }
    get total() {
        let sum = 0;
        for (let k = 0; k < 200; k++)
            for (const item of this.list) sum = (sum + item * k) | 0;
        return sum;
    }
}

const box = new Box();

function boxed(n) {
    let sum = 0;
    for (let i = 0; i < n; i += 800) sum ^= box.total;
    return sum;
}

function strings(n) {
    let text = "";
    for (let i = 0; i < n; i += 40) text = (text + i).slice(-20);
    return text.length;
}

const parts = {
    half: [half, 50], floats: [floats, 20], memory: [memory, 15], boxed: [boxed, 10],
    strings: [strings, 5],
};
const total = Number(process.argv[2]) * 1e6;
const spent = {};
let sink = 0;

// Which part is next is not known when this is compiled, so none is inlined here.
function run(name, work, budget) {
    const start = now();
    while (now() - start < budget)
        for (let i = 0; i < 20; i++) sink ^= work(50000);
    spent[name] = (spent[name] || 0) + now() - start;
}

function made(round) {
    const body = `let s = ${round}; for (let i = 0; i < n; i++) s = (s * 33 + i) | 0; return s;`;
    return new Function("n", body);
}

for (const name in parts) run(name, parts[name][0], 1);
for (const name in parts) spent[name] = 0;
const rounds = 10;
for (let i = 0; i < rounds; i++) {
    for (const name in parts) run(name, parts[name][0], total * parts[name][1] / 100 / rounds);
    if (process.argv.includes("move")) {
        for (let k = 0; k < 200; k++) sink ^= made(k)(3000);
        if (global.gc) global.gc();
    }
}
for (const name in spent) console.log(`${name} ${Math.round(spent[name])}`);
if (sink === 0.1) console.log(sink);
