/* Names of programs: safe to look at, and short without losing what they are. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { shorten, shortenPath, shown, split, tipOf } from "../src/names.ts";

test("controls are written out", () => {
	assert.equal(shown("a\u001b[31mb\u202ec\u0000"), "a\\x1b[31mb\\u202ec\\x00");
	assert.equal(shown("שלום ünï 漢字 <b>"), "שלום ünï 漢字 <b>");
});

test("tips have a line for each name, whatever is in it", () => {
	assert.equal(tipOf("a\nb", "", "\u202ec"), "a\\x0ab\n\\u202ec");
	assert.equal(tipOf("x".repeat(9999)).length, 4001);
});

test("what was searched for is found where it stands", () => {
	assert.deepEqual(split("Do the domino", "do"), ["", "Do", " the ", "do", "mino"]);
	assert.deepEqual(split("İİ::operator()(int)", "()("), ["İİ::operator", "()(", "int)"]);
	assert.deepEqual(split("a[1]\\d", "[1]\\d"), ["a", "[1]\\d", ""]);
	assert.deepEqual(split("main", ""), ["main"]);
});

test("what fits stays", () => {
	assert.equal(shorten("main", 4), "main");
	assert.equal(shorten("std::vector<int>::push_back(int const&)", 60), "std::vector<int>::push_back(int const&)");
});

test("arguments go first, then templates, then scopes", () => {
	const name = "std::vector<std::pair<int, Box<long>>>::emplace_back<int, Box<long>>(int&&, Box<long>&&)";
	assert.equal(shorten(name, 75), "std::vector<std::pair<int, Box<long>>>::emplace_back<int, Box<long>>(…)");
	assert.equal(shorten(name, 40), "std::vector<…>::emplace_back<…>");
	assert.equal(shorten(name, 29), "…vector<…>::emplace_back<…>");
	assert.equal(shorten(name, 16), "…emplace_back<…>");
	assert.equal(shorten(name, 12), "emplace_back");
});

test("operators and arrows are no brackets", () => {
	assert.equal(shorten("Matrix::operator<(Matrix const&, Matrix const&)", 24), "Matrix::operator<(…)");
	assert.equal(shorten("auto Foo::bar(int)::{lambda(int)#1}::operator()(int) const", 60), "auto Foo::bar(int)::{lambda(int)#1}::operator()(int) const");
	assert.equal(shorten("Very::Long::Scopes::Of::A::Class::operator()(int) const", 24), "…A::Class::operator()");
	assert.equal(shorten("operator->", 10), "operator->");
});

test("the brackets of templates are no links of a chain", () => {
	const name = "std::vector<Box<int> > make<std::vector<Box<int> > >(int, std::allocator<Box<int> > const&)";
	assert.equal(shorten(name, 50), "make<std::vector<Box<int> > >(…)");
	assert.equal(shorten(name, 12), "make<…>");
});

test("chains keep their ends", () => {
	assert.equal(shorten("first<A<int> > > second > third<B<int> >", 38), "first<A<int> > > … > third<B<int> >");
	assert.equal(shorten("outer_function > middle_function > inner_function", 40), "outer_function > … > inner_function");
});

test("nothing is longer than its room, whatever it is", () => {
	const names = ["x".repeat(10_000), "<".repeat(300), `${"a<".repeat(4000)}b`, "((((", "operator", "\u202e".repeat(50), "a > b > ".repeat(99)];
	for (const name of names)
		for (const columns of [2, 7, 24, 80]) assert.ok(shorten(name, columns).length <= columns, `${columns}: ${name.slice(0, 9)}`);
});

test("paths keep their last folders", () => {
	assert.equal(shortenPath("/usr/lib/x86_64-linux-gnu/libc.so.6", 20), "…/libc.so.6");
	assert.equal(shortenPath("/usr/lib/libc.so.6", 20), "/usr/lib/libc.so.6");
});
