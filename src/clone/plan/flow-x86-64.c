/*
 * Flow of control and registers; see flow.h.
 *
 * Questions about few places of a large function are common (a table's address set up right in
 * front of its jump), so everything is lazy: walks decode what they pass, and nothing is computed
 * for a whole function but where its instructions and branches are. Calls and returns count as
 * reading every register and as keeping rbx, rbp and r12 to r15 (System V ABI).
 */
#include "clone/plan/flow-x86-64.h"

#include "base/vec.h"
#include "clone/module.h"
#include "clone/read/lsda.h"
#include "code/cfi/entry.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum {
	LIVE_STEPS = 256, /* of one question of liveness */
	LIVE_BRANCHES = 64,
	SUM_LINE = 16,
	ALL_REGISTERS = 0xffff,
	RSP = 4,
	KEPT_BY_CALLS = 1 << 3 | 1 << RSP | 1 << 5 | 0xf << 12,
};

/* Whether the immediate at the end of an instruction may be an address (mov, push). */
static bool has_address_immediate(const uint8_t *bytes, uint8_t length)
{
	uint8_t op = length > 5 && (bytes[0] & 0xf0) == 0x40 ? bytes[1] : bytes[0];

	return length >= 5 && ((op & 0xf8) == 0xb8 || op == 0xc7 || op == 0x68);
}

uint64_t dw_flow_address_operand(const struct dw_clone_module *m, const struct dw_insn *insn,
				 const uint8_t *bytes, uint64_t svma)
{
	int32_t value;

	if (insn->flags & DWELL_INSN_RELATIVE)
		return insn->field_at >= 2 && bytes[insn->field_at - 2] == 0x8d
			       ? dw_insn_target(insn, svma)
			       : 0;
	if (!m->is_fixed || insn->kind != DWELL_INSN_PLAIN ||
	    !has_address_immediate(bytes, insn->length))
		return 0;
	memcpy(&value, bytes + insn->length - 4, sizeof value);
	return (uint64_t)(int64_t)value;
}

static bool is_direct_branch(const struct dw_insn *insn)
{
	return insn->kind == DWELL_INSN_JUMP || insn->kind == DWELL_INSN_BRANCH ||
	       insn->kind == DWELL_INSN_LOOP || insn->kind == DWELL_INSN_BEGIN;
}

static int collect(const struct dw_clone_module *m, const struct dw_clone_function *f,
		   struct dw_flow_entries *ret)
{
	const uint8_t *bytes = dw_clone_module_bytes(m, f->start, f->end - f->start);
	uint64_t svma = f->start;
	int rc = 0;

	for (uint32_t i = 0; bytes && i < f->n && !rc; i++) {
		const struct dw_insn *insn = &m->insns.v[f->first + i];
		uint64_t to;

		if (is_direct_branch(insn)) {
			to = dw_insn_target(insn, svma);
			if (to - f->start >= f->end - f->start && dw_clone_function_at(m, to))
				rc = dw_vec_push(&ret->jumps, to);
		} else {
			to = dw_flow_address_operand(m, insn, bytes + (svma - f->start), svma);
			if (to && dw_clone_function_at(m, to))
				rc = dw_vec_push(&ret->labels, to);
		}
		svma += insn->length;
	}
	return rc;
}

static bool is_nop(const uint8_t *bytes, uint8_t length)
{
	return (length == 1 && bytes[0] == 0x90) ||
	       (length > 1 && (bytes[0] == 0x66 || bytes[0] == 0x2e || bytes[0] == 0x0f) &&
		memchr(bytes, 0x1f, length));
}

/* No compiler lets a function run off its end: the last call of a function with padding behind it
 * does not return. */
static int collect_endless(const struct dw_clone_module *m, const struct dw_clone_function *f,
			   struct dw_flow_entries *ret)
{
	const uint8_t *bytes = dw_clone_module_bytes(m, f->start, f->end - f->start);
	const struct dw_clone_function *next = f + 1;
	bool has_padding = next == m->functions.v + m->functions.n || next->start > f->end;
	uint64_t end = f->end;

	for (uint32_t i = f->n; bytes && i-- > 0;) {
		const struct dw_insn *insn = &m->insns.v[f->first + i];

		end -= insn->length;
		if (insn->kind == DWELL_INSN_CALL)
			return has_padding ? dw_map_put(&ret->endless, dw_insn_target(insn, end), 1)
					   : 0;
		if (!is_nop(bytes + (end - f->start), insn->length))
			return 0;
		has_padding = true;
	}
	return 0;
}

/* What landing pads need of the unwind table. */
struct pads {
	struct dw_cfi_reading entry;
	struct dw_lsda lsda;
};

/* The landing pads of @f; unreadable tables are not said of clones. */
static int collect_pads(const struct dw_clone_module *m, const struct dw_clone_function *f,
			struct pads *p, struct dw_flow_entries *ret)
{
	uint64_t lsda;
	int rc;

	if (dw_clone_read_fde(m, f, &p->entry))
		return 0;
	lsda = p->entry.fde.lsda;
	if (!lsda || lsda == DWELL_CFI_LSDA_UNKNOWN)
		return 0;
	rc = dw_lsda_read(m, f, lsda, &p->lsda);
	for (size_t i = 0; i < p->lsda.sites.n && !rc; i++)
		if (p->lsda.sites.v[i].pad)
			rc = dw_vec_push(&ret->jumps, p->lsda.sites.v[i].pad);
	return rc == -ENOMEM ? rc : 0;
}

/* What the functions of each share lead to. */
struct collected {
	const struct dw_clone_module *m;
	struct dw_flow_entries of[DWELL_SHARES];
	int rc[DWELL_SHARES];
};

static void collect_share(void *ctx, const struct dw_share *share)
{
	struct collected *all = ctx;
	struct pads pads = {0};
	struct dw_flow_entries found = {0};
	int rc = 0;

	for (uint32_t i = share->first; i < share->end && !rc; i++) {
		const struct dw_clone_function *f = &all->m->functions.v[i];

		rc = collect(all->m, f, &found);
		rc = rc ? rc : collect_endless(all->m, f, &found);
		if (!rc && !f->reason)
			rc = collect_pads(all->m, f, &pads, &found);
	}
	dw_lsda_release(&pads.lsda);
	all->of[share->k] = found;
	all->rc[share->k] = rc;
}

/* Add what one share has. */
static int add_entries(struct dw_flow_entries *ret, const struct dw_flow_entries *e)
{
	if (dw_vec_reserve(&ret->jumps, e->jumps.n) || dw_vec_reserve(&ret->labels, e->labels.n))
		return -ENOMEM;
	for (size_t i = 0; e->endless.slots && i <= e->endless.mask; i++)
		if (e->endless.slots[i].value &&
		    dw_map_put(&ret->endless, e->endless.slots[i].key, 1))
			return -ENOMEM;
	dw_vec_each(x, &e->jumps)
		ret->jumps.v[ret->jumps.n++] = *x;
	dw_vec_each(x, &e->labels)
		ret->labels.v[ret->labels.n++] = *x;
	return 0;
}

int dw_flow_entries_find(const struct dw_clone_module *m, struct dw_flow_entries *ret)
{
	struct collected all = {.m = m};
	int rc = 0;

	*ret = (struct dw_flow_entries){0};
	dw_shares_run(m, collect_share, &all);
	for (unsigned k = 0; k < DWELL_SHARES; k++) {
		rc = rc ? rc : all.rc[k];
		rc = rc ? rc : add_entries(ret, &all.of[k]);
		dw_flow_entries_release(&all.of[k]);
	}
	if (rc)
		return rc;
	if (ret->jumps.n)
		qsort(ret->jumps.v, ret->jumps.n, sizeof *ret->jumps.v, dw_clone_by_svma);
	if (ret->labels.n)
		qsort(ret->labels.v, ret->labels.n, sizeof *ret->labels.v, dw_clone_by_svma);
	return 0;
}

void dw_flow_entries_release(struct dw_flow_entries *e)
{
	dw_vec_release(&e->jumps);
	dw_vec_release(&e->labels);
	dw_map_release(&e->endless);
}

static void mark(struct dw_flow *w, uint64_t svma, uint8_t what)
{
	uint32_t i = dw_flow_insn_at(w, svma);

	if (i != UINT32_MAX)
		w->marks[i] |= what;
}

static void mark_all(struct dw_flow *w, const uint64_t *values, size_t n, uint8_t what)
{
	for (size_t i = dw_sorted_count(values, n, v, *v < w->f->start);
	     i < n && values[i] < w->f->end; i++)
		mark(w, values[i], what);
}

static void mark_pointers(struct dw_flow *w)
{
	const struct dw_clone_pointer *p = w->m->pointers.v;
	size_t from = 0, n = w->m->pointers.n;

	while (from < n) {
		size_t middle = from + (n - from) / 2;

		if (p[middle].to < w->f->start)
			from = middle + 1;
		else
			n = middle;
	}
	for (; from < w->m->pointers.n && p[from].to < w->f->end; from++)
		mark(w, p[from].to, DWELL_FLOW_LABEL);
}

static int add_branches(struct dw_flow *w)
{
	uint64_t svma = w->f->start;

	for (uint32_t i = 0; i < w->n; i++) {
		const struct dw_insn *insn = &w->m->insns.v[w->f->first + i];

		w->at[i] = (uint32_t)(svma - w->f->start);
		if (is_direct_branch(insn)) {
			uint32_t to = dw_flow_insn_at(w, dw_insn_target(insn, svma));

			if (to != UINT32_MAX) {
				w->marks[to] |= DWELL_FLOW_TARGET;
				if (dw_vec_push(&w->edges, (struct dw_flow_edge){i, to}))
					return -ENOMEM;
			}
		}
		svma += insn->length;
	}
	w->at[w->n] = (uint32_t)(svma - w->f->start);
	w->direct = (uint32_t)w->edges.n;
	return 0;
}

int dw_flow_open(const struct dw_clone_module *m, const struct dw_clone_function *f,
		 struct dw_flow_entries *entries, struct dw_flow *ret)
{
	size_t n = f->n;

	*ret = (struct dw_flow){.m = m, .f = f, .n = f->n, .entries = entries};
	ret->bytes = dw_clone_module_bytes(m, f->start, f->end - f->start);
	ret->at = calloc(n + 1, sizeof *ret->at);
	ret->marks = calloc(n + 1, sizeof *ret->marks);
	ret->facts = calloc(n + 1, sizeof *ret->facts);
	ret->first = calloc(n + 2, sizeof *ret->first);
	ret->seen = calloc(n + 1, sizeof *ret->seen);
	if (!ret->bytes || !ret->at || !ret->marks || !ret->facts || !ret->first || !ret->seen ||
	    add_branches(ret))
		return -ENOMEM;
	ret->marks[0] |= DWELL_FLOW_ENTRY;
	mark_all(ret, entries->jumps.v, entries->jumps.n, DWELL_FLOW_ENTRY);
	mark_all(ret, entries->labels.v, entries->labels.n, DWELL_FLOW_LABEL);
	mark_pointers(ret);
	return dw_flow_link(ret);
}

void dw_flow_close(struct dw_flow *w)
{
	free(w->at);
	free(w->marks);
	free(w->facts);
	free(w->into);
	free(w->first);
	free(w->seen);
	dw_vec_release(&w->places);
	dw_vec_release(&w->edges);
	*w = (struct dw_flow){0};
}

int dw_flow_link(struct dw_flow *w)
{
	uint32_t *into = realloc(w->into, (w->edges.n + 1) * sizeof *into);

	if (!into)
		return -ENOMEM;
	w->into = into;
	dw_flow_charge(w, w->edges.n + w->n);
	memset(w->first, 0, (w->n + 2) * sizeof *w->first);
	dw_vec_each(e, &w->edges)
		w->first[e->to + 2]++;
	for (uint32_t i = 2; i < w->n + 2; i++)
		w->first[i] += w->first[i - 1];
	dw_vec_each(e, &w->edges)
		into[w->first[e->to + 1]++] = e->from;
	return 0;
}

bool dw_flow_charge(struct dw_flow *w, uint64_t n)
{
	w->entries->work += n;
	return w->entries->work <= DWELL_FLOW_WORK_MAX;
}

uint32_t dw_flow_insn_at(const struct dw_flow *w, uint64_t svma)
{
	uint32_t i = svma - w->f->start < w->f->end - w->f->start
			     ? dw_clone_insn_at(w->m, w->f, svma)
			     : UINT32_MAX;

	return i == UINT32_MAX ? i : i - w->f->first;
}

bool dw_flow_detail(const struct dw_flow *w, uint32_t i, struct dw_insn *insn,
		    struct dw_insn_detail *ret)
{
	return dw_insn_decode_detail(w->bytes + w->at[i], w->at[i + 1] - w->at[i], insn, ret);
}

static bool goes_on(const struct dw_insn *insn)
{
	return insn->kind != DWELL_INSN_JUMP && insn->kind != DWELL_INSN_JUMP_INDIRECT &&
	       insn->kind != DWELL_INSN_RETURN && insn->kind != DWELL_INSN_STOP &&
	       insn->kind != DWELL_INSN_OTHER;
}

bool dw_flow_falls_through(const struct dw_flow *w, uint32_t i)
{
	const struct dw_insn *insn = &w->m->insns.v[w->f->first + i];

	if (insn->kind == DWELL_INSN_CALL)
		return !dw_map_get(&w->entries->endless,
				   dw_insn_target(insn, w->f->start + w->at[i]));
	return goes_on(insn);
}

static struct dw_flow_fact fact_of(const struct dw_insn *insn, const struct dw_insn_detail *d)
{
	struct dw_flow_fact ret = {d->reads | d->flags_read << DWELL_FLOW_FLAGS_SHIFT,
				   d->writes | d->flags_written << DWELL_FLOW_FLAGS_SHIFT, true};

	switch (insn->kind) {
	case DWELL_INSN_CALL:
	case DWELL_INSN_CALL_INDIRECT:
		ret.reads = ALL_REGISTERS;
		ret.writes = (ALL_REGISTERS & ~KEPT_BY_CALLS) | DWELL_FLOW_FLAGS;
		break;
	case DWELL_INSN_RETURN:
		ret.reads = ALL_REGISTERS;
		break;
	case DWELL_INSN_OTHER:
		ret.reads = ALL_REGISTERS | DWELL_FLOW_FLAGS;
		ret.writes = ALL_REGISTERS;
		break;
	default:
		break;
	}
	return ret;
}

const struct dw_flow_fact *dw_flow_fact(struct dw_flow *w, uint32_t i)
{
	struct dw_insn_detail d;
	struct dw_insn insn;

	if (w->facts[i].is_known)
		return &w->facts[i];
	if (dw_flow_detail(w, i, &insn, &d))
		w->facts[i] = fact_of(&insn, &d);
	else
		w->facts[i] = (struct dw_flow_fact){UINT32_MAX, UINT32_MAX, true};
	return &w->facts[i];
}

/* What one walk against the flow has found. */
struct search {
	struct dw_flow *w;
	enum dw_flow_definition found;
	uint64_t constant;
	int rc;
};

static void visit(struct search *s, uint32_t i, uint8_t reg)
{
	if (s->w->seen[i] >> reg & 1)
		return;
	s->w->seen[i] |= (uint16_t)(1u << reg);
	if (dw_vec_push(&s->w->places, (struct dw_flow_place){i, reg}))
		s->rc = -ENOMEM;
}

static void merge(struct search *s, enum dw_flow_definition how, uint64_t constant)
{
	if (s->found == DWELL_FLOW_UNREACHED) {
		s->found = how;
		s->constant = constant;
	} else if (how != s->found || constant != s->constant) {
		bool known = s->found != DWELL_FLOW_UNKNOWN && s->found != DWELL_FLOW_SUM &&
			     how != DWELL_FLOW_UNKNOWN && how != DWELL_FLOW_SUM;

		s->found = known ? DWELL_FLOW_POINTER : DWELL_FLOW_UNKNOWN;
	}
}

/* The sum that instruction @i puts into @reg: of what has one addend that is constant. */
static void define_sum(struct search *s, uint32_t i, const struct dw_insn_detail *d)
{
	uint8_t addends[2] = {d->to, d->from};

	for (int k = 0; k < 2; k++) {
		const uint32_t bit = 1u << addends[k];

		/* Only in the line right before: a sum is the last step to an address. */
		for (uint32_t j = i; j > 0 && !s->w->marks[j] && i - j < SUM_LINE; j--) {
			struct dw_insn_detail before;
			struct dw_insn insn;

			if (!(dw_flow_fact(s->w, j - 1)->writes & bit))
				continue;
			if (dw_flow_detail(s->w, j - 1, &insn, &before) &&
			    before.op == DWELL_OP_LEA && before.memory.is_rip) {
				merge(s, DWELL_FLOW_SUM,
				      dw_insn_target(&insn, s->w->f->start + s->w->at[j - 1]));
				return;
			}
			break;
		}
	}
	merge(s, DWELL_FLOW_UNKNOWN, 0);
}

static bool is_cmov(const uint8_t *bytes)
{
	return (bytes[0] & 0xf8) == 0x48 && bytes[1] == 0x0f && (bytes[2] & 0xf0) == 0x40;
}

/* The definition that instruction @i, which writes @reg, makes. */
static void define(struct search *s, uint32_t i, uint8_t reg)
{
	struct dw_insn_detail d;
	struct dw_insn insn;
	uint64_t svma = s->w->f->start + s->w->at[i];

	if (!dw_flow_detail(s->w, i, &insn, &d))
		merge(s, DWELL_FLOW_UNKNOWN, 0);
	else if (insn.kind == DWELL_INSN_CALL || insn.kind == DWELL_INSN_CALL_INDIRECT)
		merge(s, DWELL_FLOW_POINTER, 0);
	else if (d.to != reg || d.bytes < 4)
		merge(s, DWELL_FLOW_UNKNOWN, 0);
	else if (d.op == DWELL_OP_LEA && d.memory.is_rip && d.bytes == 8)
		merge(s, DWELL_FLOW_CONSTANT, dw_insn_target(&insn, svma));
	else if (d.op == DWELL_OP_MOV && d.has_immediate && s->w->m->is_fixed)
		merge(s, DWELL_FLOW_CONSTANT,
		      d.bytes == 4 ? (uint32_t)d.immediate : (uint64_t)d.immediate);
	else if (d.bytes == 8 &&
		 ((d.op == DWELL_OP_MOV && d.memory.is_there) || d.op == DWELL_OP_POP))
		merge(s, DWELL_FLOW_POINTER, 0);
	else if (d.bytes == 8 && d.op == DWELL_OP_MOV && d.from != DWELL_NO_REGISTER)
		visit(s, i, d.from);
	else if (d.bytes == 8 && is_cmov(s->w->bytes + s->w->at[i])) {
		visit(s, i, reg);
		if (d.memory.is_there)
			merge(s, DWELL_FLOW_POINTER, 0);
		else
			visit(s, i, d.from);
	} else if (d.bytes == 8 && d.op == DWELL_OP_ADD && d.from != DWELL_NO_REGISTER)
		define_sum(s, i, &d);
	else
		merge(s, DWELL_FLOW_UNKNOWN, 0);
}

/* Look at the instruction @from that runs right before another one. */
static void step_back(struct search *s, uint32_t from, uint8_t reg)
{
	if (dw_flow_fact(s->w, from)->writes >> reg & 1)
		define(s, from, reg);
	else
		visit(s, from, reg);
}

enum dw_flow_definition dw_flow_define(struct dw_flow *w, uint32_t i, uint8_t reg,
				       uint64_t *constant)
{
	struct search s = {.w = w};

	w->places.n = 0;
	visit(&s, i, reg);
	for (size_t next = 0; next < w->places.n && s.found != DWELL_FLOW_UNKNOWN; next++) {
		struct dw_flow_place at = w->places.v[next];

		if (!dw_flow_charge(w, 1 + w->first[at.i + 1] - w->first[at.i]))
			merge(&s, DWELL_FLOW_UNKNOWN, 0);
		if (w->marks[at.i] & DWELL_FLOW_ENTRY)
			merge(&s, DWELL_FLOW_POINTER, 0);
		if (at.i > 0 && dw_flow_falls_through(w, at.i - 1))
			step_back(&s, at.i - 1, at.reg);
		for (uint32_t e = w->first[at.i]; e < w->first[at.i + 1]; e++)
			step_back(&s, w->into[e], at.reg);
	}
	dw_vec_each(place, &w->places)
		w->seen[place->i] = 0;
	*constant = s.constant;
	return s.rc ? DWELL_FLOW_UNKNOWN : s.found;
}

/* A walk along the flow: places still to look at, and all that were. */
struct walk {
	const struct dw_clone_module *m;
	struct {
		uint64_t svma;
		uint32_t wanted;
	} places[LIVE_BRANCHES];
	uint32_t n;
	uint32_t done;
	uint32_t steps;
	uint32_t live;
};

static void add_place(struct walk *k, uint64_t svma, uint32_t wanted)
{
	for (uint32_t i = 0; i < k->n; i++)
		if (k->places[i].svma == svma && !(wanted & ~k->places[i].wanted))
			return;
	if (k->n == LIVE_BRANCHES) {
		k->live |= wanted;
		return;
	}
	k->places[k->n].svma = svma;
	k->places[k->n++].wanted = wanted;
}

/* One instruction at *@svma. False: the line ends there. */
static bool walk_one(struct walk *k, uint64_t *svma, uint32_t *wanted)
{
	const struct dw_clone_function *f = dw_clone_function_at(k->m, *svma);
	struct dw_flow_fact fact;
	struct dw_insn_detail d;
	struct dw_insn insn;
	const uint8_t *bytes;

	if (!f) { /* out of all functions: by convention no flags are handed over */
		k->live |= *wanted & ALL_REGISTERS;
		return false;
	}
	if (k->steps++ == LIVE_STEPS) {
		k->live |= *wanted;
		return false;
	}
	bytes = dw_clone_module_bytes(k->m, *svma, f->end - *svma);
	if (!bytes || !dw_insn_decode_detail(bytes, f->end - *svma, &insn, &d)) {
		k->live |= *wanted;
		return false;
	}
	fact = fact_of(&insn, &d);
	k->live |= *wanted & fact.reads;
	*wanted &= ~(fact.reads | fact.writes);
	if (is_direct_branch(&insn) && insn.kind != DWELL_INSN_JUMP)
		add_place(k, dw_insn_target(&insn, *svma), *wanted);
	if (insn.kind == DWELL_INSN_JUMP_INDIRECT)
		k->live |= *wanted & ALL_REGISTERS;
	*svma = insn.kind == DWELL_INSN_JUMP ? dw_insn_target(&insn, *svma) : *svma + insn.length;
	return *wanted && (insn.kind == DWELL_INSN_JUMP || goes_on(&insn));
}

uint32_t dw_flow_live(const struct dw_clone_module *m, uint64_t svma, uint32_t wanted)
{
	struct walk k = {.m = m};

	add_place(&k, svma, wanted);
	while (k.done < k.n) {
		uint64_t at = k.places[k.done].svma;
		uint32_t left = k.places[k.done++].wanted & ~k.live;

		while (left && walk_one(&k, &at, &left))
			;
	}
	return k.live;
}
