/*
 * Proves a rewritten method body against the old one, and shares nothing with the rewriter but its
 * header's structures: instructions are read by a table of its own (made of what
 * System.Reflection.Emit.OpCodes says), in step through both bodies. What stands between them must
 * be the probes that belong there, everything else must be as it was, and lead to the image of
 * where it led.
 */
#pragma once

#include "agent/clr/il/rewrite.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* Bytes of operands; n, f and t are branches; p, q and r prefixes with none, one and four. */
static const char verify_one[] = "0000000000000011"
				 "1111000000000001"
				 "4848-004440nnnnn"
				 "nnnnnnnnffffffff"
				 "ffffft0000000000"
				 "0000000000000000"
				 "0000000000000004"
				 "4444440--4044444"
				 "4400000000004404"
				 "0000000000000000"
				 "000444----------"
				 "---00000000-----"
				 "--40--4---------"
				 "4000000000000fn0"
				 "0---------------"
				 "----------------";
static const char verify_two[] = "00000044-2222220"
				 "-0qpp4r00q0-40p-";

struct verify_ins {
	uint32_t at, end, head; /* head: bytes of the opcode */
	char kind;
};

struct verify_code {
	const uint8_t *bytes, *sections, *end;
	uint32_t n, flags, stack, locals;
};

struct verify {
	struct verify_code was, is;
	struct dw_il_probes probes;
	uint32_t *image;  /* by old offset: new offset + 1, 0 = no instruction begins there */
	uint32_t *branch; /* where branches to it must lead */
	uint8_t *what;	  /* IS_* */
	uint32_t probes_n[3];
};

enum { IS_HANDLER = 1, IS_TARGET = 2, IS_AFTER_TAIL = 4, IS_INNER = 8 };
enum { VERIFY_ENTER, VERIFY_LEAVE, VERIFY_LANDING };

static uint32_t verify_get(const uint8_t *at, int n)
{
	uint32_t v = 0;

	memcpy(&v, at, (size_t)n);
	return v;
}

static bool verify_open(const uint8_t *at, size_t n, struct verify_code *c)
{
	memset(c, 0, sizeof(*c));
	c->end = at + n;
	if (n && (*at & 3) == 2) {
		c->bytes = at + 1;
		c->n = *at >> 2;
		c->stack = 8;
		return c->n < n;
	}
	if (n < 12 || (*at & 7) != 3 || at[1] >> 4 != 3)
		return false;
	c->flags = verify_get(at, 2) & 0xfff;
	c->stack = verify_get(at + 2, 2);
	c->n = verify_get(at + 4, 4);
	c->locals = verify_get(at + 8, 4);
	c->bytes = at + 12;
	if (c->n > n - 12)
		return false;
	if (c->flags & 8)
		c->sections = at + ((12 + c->n + 3) & ~3u);
	return true;
}

static bool verify_ins(const struct verify_code *c, uint32_t at, struct verify_ins *ins)
{
	uint32_t left, bytes;

	if (at >= c->n)
		return false;
	*ins = (struct verify_ins){.at = at, .head = 1, .kind = verify_one[c->bytes[at]]};
	if (c->bytes[at] == 0xfe && at + 1 < c->n && c->bytes[at + 1] < 32) {
		ins->kind = verify_two[c->bytes[at + 1]];
		ins->head = 2;
	}
	left = c->n - at - ins->head;
	switch (ins->kind) {
	case 'p':
		bytes = 0;
		break;
	case 'n':
	case 'q':
		bytes = 1;
		break;
	case 'f':
	case 'r':
		bytes = 4;
		break;
	case 't':
		if (left < 4 || verify_get(c->bytes + at + 1, 4) > (left - 4) / 4)
			return false;
		bytes = 4 + 4 * verify_get(c->bytes + at + 1, 4);
		break;
	case '-':
		return false;
	default:
		bytes = (uint32_t)(ins->kind - '0');
	}
	ins->end = at + ins->head + bytes;
	return bytes <= left;
}

static bool verify_is_prefix(const struct verify_ins *ins)
{
	return ins->kind >= 'p' && ins->kind <= 'r';
}

static uint32_t verify_branches(const struct verify_code *c, const struct verify_ins *ins)
{
	return ins->kind == 't'			      ? verify_get(c->bytes + ins->at + 1, 4)
	       : ins->kind == 'n' || ins->kind == 'f' ? 1
						      : 0;
}

static int64_t verify_target(const struct verify_code *c, const struct verify_ins *ins, uint32_t i)
{
	const uint8_t *at = c->bytes + ins->at + (ins->kind == 't' ? 5 + i * 4 : 1);

	return (int64_t)ins->end + (ins->kind == 'n' ? (int8_t)*at : (int32_t)verify_get(at, 4));
}

/* Clause @i in six words. False: there are no more. */
static bool verify_clause(const struct verify_code *c, uint32_t i, uint32_t w[6])
{
	const uint8_t *at = c->sections;

	while (at && c->end - at >= 4) {
		bool fat = at[0] & 0x40;
		uint32_t bytes = verify_get(at + 1, fat ? 3 : 1), each = fat ? 24 : 12;
		uint32_t n = (at[0] & 0x3f) == 1 ? bytes / each : 0;
		const uint8_t *row = at + 4 + (size_t)i * each;

		if (i < n) {
			static const int sizes[2][6] = {{2, 2, 1, 2, 1, 4}, {4, 4, 4, 4, 4, 4}};

			if (row + each > c->end)
				return false;
			for (int k = 0; k < 6; row += sizes[fat][k++])
				w[k] = verify_get(row, sizes[fat][k]);
			return true;
		}
		i -= n;
		at = at[0] & 0x80 ? at + ((bytes + 3) & ~3u) : NULL;
	}
	return false;
}

/* What the old code says of its places. */
static const char *verify_mark(struct verify *v)
{
	struct verify_ins ins, before = {.end = 0};
	uint32_t w[6];
	bool tail = false;

	for (uint32_t at = 0; at < v->was.n; at = ins.end) {
		if (!verify_ins(&v->was, at, &ins))
			return "taken, but its old code cannot be read";
		v->what[at] |= before.end && verify_is_prefix(&before) ? IS_INNER : 0;
		for (uint32_t i = 0; i < verify_branches(&v->was, &ins); i++) {
			int64_t to = verify_target(&v->was, &ins, i);

			if (to < 0 || to >= v->was.n)
				return "taken, but an old branch leads out";
			v->what[to] |= IS_TARGET;
		}
		tail |= ins.head == 2 && v->was.bytes[at + 1] == 0x14;
		if (!verify_is_prefix(&ins)) {
			v->what[ins.end] |= tail ? IS_AFTER_TAIL : 0;
			tail = false;
		}
		before = ins;
	}
	for (uint32_t i = 0; verify_clause(&v->was, i, w); i++) {
		if (w[1] >= v->was.n || w[3] >= v->was.n || (w[0] == 1 && w[5] >= v->was.n))
			return "taken, but a clause is outside";
		v->what[w[1]] |= IS_TARGET;
		v->what[w[3]] |= IS_HANDLER | IS_TARGET;
		if (w[0] == 1)
			v->what[w[5]] |= IS_HANDLER | IS_TARGET;
	}
	return NULL;
}

/* Step over the probe @kind. */
static bool verify_probe(struct verify *v, uint32_t *at, int kind)
{
	uint64_t helper = kind == VERIFY_ENTER	 ? v->probes.enter
			  : kind == VERIFY_LEAVE ? v->probes.leave
						 : v->probes.landing;
	uint8_t want[DWELL_IL_PROBE_BYTES] = {0x20, [5] = 0xe0, 0x21, [15] = 0xd3, 0x29};

	memcpy(want + 1, &v->probes.key, 4);
	memcpy(want + 7, &helper, 8);
	memcpy(want + 17, &v->probes.signature, 4);
	if (v->is.n - *at < sizeof want || memcmp(v->is.bytes + *at, want, sizeof want) != 0)
		return false;
	v->probes_n[kind]++;
	*at += sizeof want;
	return true;
}

/* Whether the method is left by the instruction at @at or what its prefixes belong to. */
static bool verify_leaves(const struct verify_code *c, uint32_t at)
{
	struct verify_ins ins;
	bool tail = false;

	while (verify_ins(c, at, &ins) && verify_is_prefix(&ins)) {
		tail |= c->bytes[at + 1] == 0x14;
		at = ins.end;
	}
	return tail || c->bytes[at] == 0x2a || c->bytes[at] == 0x27;
}

/* Step over what stands before the instruction at @was. */
static const char *verify_before(struct verify *v, uint32_t was, uint32_t *at)
{
	uint8_t what = v->what[was];
	bool after_tail = what & IS_AFTER_TAIL, target = what & IS_TARGET;

	v->image[was] = *at + 1;
	if (!was && !verify_probe(v, at, VERIFY_ENTER))
		return "no probe of entering";
	if (what & IS_HANDLER && !verify_probe(v, at, VERIFY_LANDING))
		return "no landing at a handler";
	if (after_tail && target && v->is.bytes[(*at)++] != 0x2a)
		return "no ret behind a tail call";
	v->branch[was] = *at;
	if (!(what & IS_INNER) && verify_leaves(&v->was, was) && (!after_tail || target) &&
	    !verify_probe(v, at, VERIFY_LEAVE))
		return "no probe of leaving";
	return NULL;
}

/* Whether the instructions are the same but for where they lead. */
static bool verify_same(const struct verify *v, const struct verify_ins *was,
			const struct verify_ins *is)
{
	const uint8_t *a = v->was.bytes + was->at, *b = v->is.bytes + is->at;

	if (was->kind == 'n')
		return is->kind == 'f' && *b == (*a == 0xde ? 0xdd : *a + 0x0d);
	return was->kind == is->kind && was->end - was->at == is->end - is->at &&
	       !memcmp(a, b,
		       was->kind == 'f'	  ? 1
		       : was->kind == 't' ? 5
					  : was->end - was->at);
}

static const char *verify_code(struct verify *v, const struct dw_il_map_row *map, size_t rows)
{
	struct verify_ins was, is;
	uint32_t to = 0, row = 0;
	const char *why;

	for (uint32_t at = 0; at < v->was.n; at = was.end, to = is.end, row++) {
		if ((why = verify_before(v, at, &to)) != NULL)
			return why;
		if (!verify_ins(&v->was, at, &was) || !verify_ins(&v->is, to, &is) ||
		    !verify_same(v, &was, &is))
			return "another instruction";
		if (row >= rows || map[row].was != at || map[row].is != v->image[at] - 1 ||
		    map[row].is_accurate != 1)
			return "another place in the map";
	}
	v->image[v->was.n] = to + 1;
	if (row != rows)
		return "more rows in the map";
	return to == v->is.n ? NULL : "code behind the last instruction";
}

/* Each branch leads to the image of where it led. */
static const char *verify_leads(struct verify *v)
{
	struct verify_ins was, is;

	for (uint32_t at = 0; at < v->was.n; at = was.end) {
		uint32_t to = v->branch[at];

		verify_ins(&v->was, at, &was);
		if (!verify_branches(&v->was, &was))
			continue;
		verify_ins(&v->is, to, &is);
		for (uint32_t i = 0; i < verify_branches(&v->was, &was); i++) {
			int64_t old = verify_target(&v->was, &was, i);

			if (!v->image[old] || v->what[old] & IS_INNER)
				return "taken, but an old branch leads between instructions";
			if (verify_target(&v->is, &is, i) != v->branch[old])
				return "a branch leads elsewhere";
		}
	}
	return NULL;
}

static const char *verify_clauses(struct verify *v)
{
	uint32_t w[6], x[6], i = 0;

	for (; verify_clause(&v->was, i, w); i++) {
		if (!verify_clause(&v->is, i, x))
			return "a clause is missing";
		if (x[0] != w[0] || x[1] != v->branch[w[1]] ||
		    x[1] + x[2] + 1 != v->image[w[1] + w[2]] || x[3] + 1 != v->image[w[3]] ||
		    x[3] + x[4] + 1 != v->image[w[3] + w[4]])
			return "a clause is elsewhere";
		if (w[0] == 1 ? x[5] + 1 != v->image[w[5]] : x[5] != w[5])
			return "a filter is elsewhere";
		/* Nothing but what was inside is: a range and its probe of landing. */
		if (v->is.bytes[x[3]] != 0x20)
			return "a handler begins otherwise";
	}
	if (!i)
		return v->is.sections ? "a clause more" : NULL;
	return v->is.sections + 4 + i * 24 == v->is.end &&
			       verify_get(v->is.sections, 4) == (0x41 | (4 + i * 24) << 8)
		       ? NULL
		       : "another section";
}

static const char *verify_header(const struct verify *v)
{
	uint32_t stack = v->was.stack + 2 < 0xffff ? v->was.stack + 2 : 0xffff;

	if (v->is.stack != stack || v->is.locals != v->was.locals)
		return "another stack or locals";
	return (v->is.flags & 0x10) == (v->was.flags & 0x10) ? NULL : "another header";
}

/* Why the new body is wrong, NULL = it is right. */
static const char *verify_body(const void *was, size_t n, const struct dw_il_output *is,
			       const struct dw_il_scan *scan, struct verify *v)
{
	const char *why = "a header cannot be read";

	if (verify_open(was, n, &v->was) && verify_open(is->body, scan->body_bytes, &v->is)) {
		v->image = calloc((size_t)v->was.n + 1, 4);
		v->branch = calloc((size_t)v->was.n + 1, 4);
		v->what = calloc((size_t)v->was.n + 1, 1);
		why = verify_header(v);
		why = why ? why : verify_mark(v);
		why = why ? why : verify_code(v, is->map, scan->map_rows);
		why = why ? why : verify_leads(v);
		why = why ? why : verify_clauses(v);
		free(v->image);
		free(v->branch);
		free(v->what);
	}
	return why;
}
