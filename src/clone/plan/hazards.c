/*
 * What makes a function unsafe to clone, found before anything is emitted; see plan.h.
 *
 * Return addresses that the program looks up (words of data that hold addresses behind calls;
 * languages whose runtimes keep tables of them), callees that read, change or pop their return
 * address, calls into a function's own middle, restartable sequences, code that the kernel enters.
 * What is not proven safe is left alone with its reason.
 *
 * Calls are looked at from both ends. Data (and operands) that name the address behind a call make
 * that call keep its return address. Callees that look at their return address make direct calls
 * of them keep it; callees that change it, pop it or read what it points to make their callers be
 * left alone, since code behind a call is another in the clone, and the module's own holds a jump.
 * Who jumps to such a callee hands his own return address over, and counts as one.
 */
#include "clone/plan/plan.h"

#include "base/cleanup.h"
#include "base/map.h"
#include "base/vec.h"
#include "clone/plan/jumps.h"

#include <elf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

static bool is_counter(const char *name)
{
	return !strcmp(name, "mcount") || !strcmp(name, "_mcount") || !strcmp(name, "__fentry__");
}

/* Whether the module was built to count its calls itself (-pg): what it calls in each function, of
 * the C library, looks up both its own return address and its caller's. Names are looked for among
 * the undefined dynamic symbols, as the C library itself defines these functions. No section of
 * dynamic symbols, or a broken one: false. */
static bool counts_itself(const struct dw_clone_module *m)
{
	const struct dw_elf_section *symbols = dw_elf_section(m->elf, ".dynsym");
	const struct dw_elf_section *strings = dw_elf_section(m->elf, ".dynstr");
	dw_auto_free uint8_t *entries = NULL, *names = NULL; /* one NUL behind */
	size_t entries_n, names_n;
	Elf64_Sym symbol;

	if (!symbols || !strings ||
	    dw_elf_read_section(m->elf, symbols, &entries, &entries_n, NULL) ||
	    dw_elf_read_section(m->elf, strings, &names, &names_n, NULL))
		return false;
	for (size_t at = 0; entries_n - at >= sizeof symbol; at += sizeof symbol) {
		memcpy(&symbol, entries + at, sizeof symbol);
		if (symbol.st_shndx == SHN_UNDEF && symbol.st_name < names_n &&
		    is_counter((const char *)names + symbol.st_name))
			return true;
	}
	return false;
}

enum { LEA = 0x8d };

/* A jump of one function to the start of another: indexes of functions. */
struct tail {
	uint32_t to;
	uint32_t from;
};

struct finder {
	struct dw_clone_module *m;
	uint8_t *uses;	       /* bits of enum dw_slot_use by function */
	struct dw_map words;   /* svma of words -> index in m->pointers + 1 */
	DW_VEC(uint32_t) work; /* functions whose callers are to be told */
	DW_VEC(struct tail) tails;
	struct part *parts;
};

/* What is found in the functions of one share. */
struct part {
	const struct finder *s;
	struct dw_map stubs; /* svma of PLT entries -> index of a function + 2, 1 = none */
	DW_VEC(uint32_t) work;
	DW_VEC(struct tail) tails;
	int rc;
};

static void leave(struct dw_clone_function *f, enum dw_clone_reason reason)
{
	if (!f->reason)
		f->reason = (uint8_t)reason;
}

/* The call right in front of @svma, index in m->insns; UINT32_MAX: there is none. Where a function
 * begins, its address means the function: a call that ends the one before does not return. */
static uint32_t call_before(const struct dw_clone_module *m, uint64_t svma)
{
	const struct dw_clone_function *f;
	uint32_t i;

	if (dw_rank_has(&m->starts, svma))
		return UINT32_MAX;
	f = dw_clone_function_at(m, svma - 1);
	if (!f || !f->n)
		return UINT32_MAX;
	i = svma == f->end ? f->first + f->n : dw_clone_insn_at(m, f, svma);
	if (i == UINT32_MAX || i == f->first)
		return UINT32_MAX;
	i--;
	return m->insns.v[i].kind == DWELL_INSN_CALL ||
			       m->insns.v[i].kind == DWELL_INSN_CALL_INDIRECT
		       ? i
		       : UINT32_MAX;
}

static void keep_return_before(struct dw_clone_module *m, uint64_t svma)
{
	uint32_t i = call_before(m, svma);

	if (i != UINT32_MAX) /* other threads may say so too */
		__atomic_store_n(&m->marks.v[i], DWELL_MARK_KEEP_RETURN, __ATOMIC_RELAXED);
}

/* Tables of jumps that are read in the clone's place: sorted spans of svma. */
struct span {
	uint64_t start;
	uint64_t end;
};

static bool in_spans(const struct span *spans, size_t n, uint64_t svma)
{
	size_t behind = dw_sorted_count(spans, n, s, s->start <= svma);

	return behind && svma < spans[behind - 1].end;
}

/* Words of data that name the address behind a call, but for entries of known tables of jumps. */
static int find_named_returns(struct dw_clone_module *m)
{
	struct span *spans = malloc((m->jump_tables.n + 1) * sizeof *spans);
	size_t n = 0;

	if (!spans)
		return -ENOMEM;
	dw_vec_each(t, &m->jump_tables)
		spans[n++] = (struct span){t->start, t->start + (uint64_t)t->n * t->entry_bytes};
	qsort(spans, n, sizeof *spans, dw_clone_by_svma);
	dw_vec_each(p, &m->pointers)
		if (!in_spans(spans, n, p->at))
			keep_return_before(m, p->to);
	free(spans);
	return 0;
}

static uint32_t index_of(const struct finder *s, const struct dw_clone_function *f)
{
	return (uint32_t)(f - s->m->functions.v);
}

/* The function whose address the word at @svma holds. NULL = none of this module. */
static struct dw_clone_function *through_word(const struct finder *s, uint64_t svma)
{
	uint32_t i = dw_map_get(&s->words, svma);
	uint64_t to = i ? s->m->pointers.v[i - 1].to : 0;
	struct dw_clone_function *f = i ? dw_clone_function_at(s->m, to) : NULL;

	return f && f->start == to ? f : NULL;
}

/* The function that the PLT entry at @svma leads to. */
static struct dw_clone_function *through_stub(const struct finder *s, uint64_t svma)
{
	uint64_t word = dw_calls_out_stub(s->m, svma);

	return word ? through_word(s, word) : NULL;
}

/* The function that a branch to @svma enters at its start, also by way of the PLT. */
static struct dw_clone_function *entered(struct part *p, uint64_t svma)
{
	const struct dw_clone_module *m = p->s->m;
	struct dw_clone_function *f;
	uint32_t known;

	if (dw_rank_has(&m->starts, svma))
		return dw_clone_function_at(m, svma);
	if (dw_rank_has(&m->insn_starts, svma) || dw_clone_function_at(m, svma))
		return NULL;
	known = dw_map_get(&p->stubs, svma);
	if (!known) {
		f = through_stub(p->s, svma);
		known = f ? index_of(p->s, f) + 2 : 1;
		if (dw_map_put(&p->stubs, svma, known))
			p->rc = -ENOMEM;
	}
	return known > 1 ? &m->functions.v[known - 2] : NULL;
}

/* The function that instruction @insn at @at hands control to at its start, by a direct branch or
 * through a word; NULL = none. */
static struct dw_clone_function *callee(struct part *p, const struct dw_insn *insn, uint64_t at)
{
	switch (insn->kind) {
	case DWELL_INSN_CALL:
	case DWELL_INSN_JUMP:
	case DWELL_INSN_BRANCH:
		return entered(p, dw_insn_target(insn, at));
	case DWELL_INSN_CALL_INDIRECT:
	case DWELL_INSN_JUMP_INDIRECT:
		if (insn->flags & DWELL_INSN_RELATIVE)
			return through_word(p->s, dw_insn_target(insn, at));
	}
	return NULL;
}

/* The instruction at @at goes elsewhere: remember it when it does so by jumping to a function. */
static void add_tail(struct part *p, struct dw_clone_function *f, const struct dw_insn *insn,
		     uint64_t at)
{
	struct dw_clone_function *to = callee(p, insn, at);

	if (to && to != f &&
	    dw_vec_push(&p->tails, (struct tail){index_of(p->s, to), index_of(p->s, f)}))
		p->rc = -ENOMEM;
}

/* The instruction at @at has an operand at a distance from it: it may name a return address. */
static void look_at_operand(struct part *p, const struct dw_insn *insn, uint64_t at)
{
	const uint8_t *bytes = dw_clone_module_bytes(p->s->m, at, insn->length);

	if (bytes && insn->field_at >= 2 && bytes[insn->field_at - 2] == LEA)
		keep_return_before(p->s->m, dw_insn_target(insn, at));
}

static void look_at(struct part *p, struct dw_clone_function *f)
{
	uint64_t at = f->start, bytes = f->end - f->start;

	for (uint32_t i = f->first; i < f->first + f->n; i++) {
		const struct dw_insn *insn = &p->s->m->insns.v[i];
		uint64_t to = dw_insn_target(insn, at);

		switch (insn->kind) {
		case DWELL_INSN_PLAIN:
			if (insn->flags & DWELL_INSN_RELATIVE)
				look_at_operand(p, insn, at);
			break;
		case DWELL_INSN_CALL:
			if (to - f->start < bytes && to != f->start)
				leave(f, DWELL_LEFT_OWN_CALL);
			break;
		case DWELL_INSN_JUMP:
		case DWELL_INSN_BRANCH:
			if (to - f->start >= bytes)
				add_tail(p, f, insn, at);
			break;
		case DWELL_INSN_JUMP_INDIRECT:
			add_tail(p, f, insn, at);
		}
		at += insn->length;
	}
}

static void look_at_share(void *ctx, const struct dw_share *share)
{
	const struct finder *s = ctx;
	struct dw_slot_reader reader = {.m = s->m};
	struct part p = {.s = s};

	for (uint32_t i = share->first; i < share->end && !p.rc; i++) {
		struct dw_clone_function *f = &s->m->functions.v[i];
		bool by_kernel;

		s->uses[i] = (uint8_t)dw_slot_use(&reader, f, &by_kernel);
		if (by_kernel)
			leave(f, DWELL_LEFT_START);
		if (s->uses[i] && dw_vec_push(&p.work, i))
			p.rc = -ENOMEM;
		look_at(&p, f);
	}
	s->parts[share->k] = p;
}

static int by_target(const void *a, const void *b)
{
	const struct tail *x = a, *y = b;

	return (x->to > y->to) - (x->to < y->to);
}

/* Tell those who jump to function @to of what it does. 0 or -ENOMEM. */
static int tell_jumpers(struct finder *s, uint32_t to)
{
	size_t from = dw_sorted_count(s->tails.v, s->tails.n, t, t->to < to);

	for (; from < s->tails.n && s->tails.v[from].to == to; from++) {
		uint32_t jumper = s->tails.v[from].from;

		if (!(s->uses[to] & DWELL_SLOT_MASK & ~s->uses[jumper]))
			continue;
		s->uses[jumper] |= s->uses[to] & DWELL_SLOT_MASK;
		if (dw_vec_push(&s->work, jumper))
			return -ENOMEM;
	}
	return 0;
}

static void tell_callers(struct part *p, struct dw_clone_function *f)
{
	const struct finder *s = p->s;
	uint64_t at = f->start;

	for (uint32_t i = f->first; i < f->first + f->n; i++) {
		const struct dw_insn *insn = &s->m->insns.v[i];
		bool is_call =
			insn->kind == DWELL_INSN_CALL || insn->kind == DWELL_INSN_CALL_INDIRECT;
		struct dw_clone_function *to = is_call ? callee(p, insn, at) : NULL;
		uint8_t uses = to ? s->uses[index_of(s, to)] : 0;

		uses |= uses >> DWELL_SLOT_WHEN_CALLED_SHIFT;
		if (uses & DWELL_SLOT_CHANGED)
			leave(f, DWELL_LEFT_RETURN_ADDRESS);
		else if (uses)
			s->m->marks.v[i] |= DWELL_MARK_KEEP_RETURN;
		at += insn->length;
	}
}

static void tell_share(void *ctx, const struct dw_share *share)
{
	const struct finder *s = ctx;
	struct part *p = &s->parts[share->k];

	for (uint32_t i = share->first; i < share->end && !p->rc; i++)
		tell_callers(p, &s->m->functions.v[i]);
}

/* Words that hold where a function begins. */
static int index_words(struct finder *s)
{
	int rc = 0;

	for (uint32_t i = 0; i < s->m->pointers.n && !rc; i++)
		if (dw_rank_has(&s->m->starts, s->m->pointers.v[i].to))
			rc = dw_map_put(&s->words, s->m->pointers.v[i].at, i + 1);
	return rc;
}

static int merge_parts(struct finder *s)
{
	for (unsigned k = 0; k < DWELL_SHARES; k++) {
		struct part *p = &s->parts[k];

		if (p->rc || dw_vec_reserve(&s->work, p->work.n) ||
		    dw_vec_reserve(&s->tails, p->tails.n))
			return -ENOMEM;
		dw_vec_each(i, &p->work)
			s->work.v[s->work.n++] = *i;
		dw_vec_each(t, &p->tails)
			s->tails.v[s->tails.n++] = *t;
	}
	return 0;
}

static int follow_uses(struct finder *s)
{
	int rc = 0;

	if (s->tails.n)
		qsort(s->tails.v, s->tails.n, sizeof *s->tails.v, by_target);
	while (s->work.n && !rc)
		rc = tell_jumpers(s, s->work.v[--s->work.n]);
	if (!rc)
		dw_shares_run(s->m, tell_share, s);
	for (unsigned k = 0; k < DWELL_SHARES; k++)
		rc = rc ? rc : s->parts[k].rc;
	return rc;
}

/* Go's runtime walks its stacks by a table of all its code: its magic, two zeros, the least
 * instruction's size, the size of pointers. */
static bool is_go_table(const uint8_t *bytes)
{
	return bytes[0] >= 0xf0 && bytes[0] <= 0xfb && bytes[1] == 0xff && bytes[2] == 0xff &&
	       bytes[3] == 0xff && !bytes[4] && !bytes[5] && bytes[6] == 1 && bytes[7] == 8;
}

static bool has_go_table(const struct dw_clone_module *m)
{
	if (dw_elf_section(m->elf, ".gopclntab") ||
	    dw_elf_section(m->elf, ".data.rel.ro.gopclntab"))
		return true;
	dw_vec_each(s, &m->segments)
		for (uint64_t at = 0; !(s->flags & PF_X) && at + 8 <= s->n; at += 8)
			if (is_go_table(s->bytes + at))
				return true;
	return false;
}

static int find_by_code(struct finder *s)
{
	int rc = index_words(s);

	if (rc)
		return rc;
	dw_shares_run(s->m, look_at_share, s);
	rc = merge_parts(s);
	return rc || !s->work.n ? rc : follow_uses(s);
}

static void release(struct finder *s)
{
	for (unsigned k = 0; k < DWELL_SHARES; k++) {
		dw_map_release(&s->parts[k].stubs);
		dw_vec_release(&s->parts[k].work);
		dw_vec_release(&s->parts[k].tails);
	}
	free(s->uses);
	dw_map_release(&s->words);
	dw_vec_release(&s->work);
	dw_vec_release(&s->tails);
}

int dw_hazards_find(struct dw_clone_module *m)
{
	struct part parts[DWELL_SHARES] = {0};
	struct finder s = {.m = m, .uses = calloc(m->functions.n + 1, 1), .parts = parts};
	int rc;

	if (!s.uses)
		return -ENOMEM;
	if (has_go_table(m))
		dw_vec_each(f, &m->functions)
			leave(f, DWELL_LEFT_RUNTIME);
	if (counts_itself(m))
		dw_vec_each(f, &m->functions)
			leave(f, DWELL_LEFT_RETURN_ADDRESS);
	dw_templates_find(m);
	rc = dw_rseq_find(m);
	if (!rc)
		rc = find_named_returns(m);
	if (!rc)
		rc = find_by_code(&s);
	release(&s);
	return rc;
}
