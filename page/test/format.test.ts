/* Numbers: what src/format/units.c and table-cell.c print of them. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { bytes, cellText, duration, grouped, percent, samplingError, time, unitFor, writerOf } from "../src/format.ts";

test("the unit of a column is chosen by its largest cell", () => {
	const names = ["ns", "us", "ms", "s"];
	const cases: [number, string][] = [[0, "ns"], [9_999, "ns"], [10_000, "us"], [9_999_999, "us"], [10_000_000, "ms"],
		[9_999_999_999, "ms"], [10_000_000_000, "s"], [1e15, "s"]];
	for (const [ns, unit] of cases) assert.equal(names[unitFor(ns)], unit, String(ns));
	assert.equal(names[unitFor(5, 0)], "ms", "samples are worth milliseconds");
});

test("times have as many digits as they are worth", () => {
	assert.equal(time(0, 2), "0");
	assert.equal(time(12_345_678, 2), "12.346ms");
	assert.equal(time(65_000_000, 2, 0), "65ms");
	assert.equal(time(12_867_000_000, 3), "12.867s");
	assert.equal(time(1_273_531_000, 2, 2), "1273.531ms");
	assert.equal(time(11_009_249_111, 3, 2), "11.009249s");
	assert.equal(time(1_234_567, 2, 3), "1.234567ms");
	assert.equal(time(87, 0, 3), "87ns");
});

test("shares have two digits, the half rounded up", () => {
	assert.deepEqual([0, 0.004, 0.005, 5.765, 78.0415, 99.995, 100].map(percent), ["0.00", "0.00", "0.01", "5.77", "78.04", "100.00", "100.00"]);
});

test("cells are written by what they hold", () => {
	const write = (kind: Parameters<typeof writerOf>[0]["kind"], cell: number | string | null, max = 0) =>
		cellText(cell, writerOf({ kind, digits: 1 }, max));
	assert.equal(write("count", 1234567), "1,234,567");
	assert.equal(write("change", 5), "+5");
	assert.equal(write("change", -5), "-5");
	assert.equal(write("number", 7339699), "7339699");
	assert.equal(write("duration", 5_000, 20_000_000), "0.005ms");
	assert.equal(write("duration", null), "");
	assert.equal(write("address", "0x401136"), "0x401136");
});

test("amounts alone are words", () => {
	assert.deepEqual([0, 999, 13_200, 951_600_000, 12_870_000_000].map(duration), ["0 ns", "999 ns", "13.2 µs", "952 ms", "12.9 s"]);
	assert.deepEqual([7200, 16_824, 600_072, 2e9].map(bytes), ["7200 B", "16.8 kB", "600 kB", "2.0 GB"]);
	assert.equal(grouped(-1234), "-1,234");
});

test("a count of samples tells its error", () => {
	assert.deepEqual(samplingError(100, 1000), { relative: 0.1, points: 1 });
	assert.deepEqual(samplingError(0, 1000), { relative: 0, points: 0 });
});
