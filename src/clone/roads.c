/*
 * Finding roads; see roads.h. Code between functions (assembly without unwind rules, the linker's)
 * is decoded as it comes; that may find roads that are none, which costs a patch, not more.
 */
#include "clone/roads.h"

#include "clone/jumps-flow-x86-64.h"
#include "clone/shares.h"

#include <elf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

static int reach(struct dw_roads *r, uint64_t svma)
{
	const struct dw_clone_function *f = dw_clone_function_at(r->m, svma);
	uint32_t i;

	if (svma - r->reached.base >= r->reached.n)
		return 0;
	dw_rank_add(&r->reached, svma);
	if (!f || f->start == svma)
		return 0;
	i = (uint32_t)(f - r->m->functions.v);
	if (r->runs[i])
		return 0;
	r->runs[i] = true;
	return dw_vec_push(&r->work, i);
}

static bool is_branch(const struct dw_insn *insn)
{
	return insn->field_at && !(insn->flags & DWELL_INSN_RIP);
}

static int follow_function(struct dw_roads *r, const struct dw_clone_function *f)
{
	uint64_t at = f->start;
	int rc = 0;

	for (uint32_t i = f->first; i < f->first + f->n && !rc; i++) {
		const struct dw_insn *insn = &r->m->insns.v[i];

		if (is_branch(insn))
			rc = reach(r, dw_insn_target(insn, at));
		at += insn->length;
	}
	return rc;
}

static int follow_work(struct dw_roads *r)
{
	int rc = 0;

	while (r->work.n && !rc)
		rc = follow_function(r, &r->m->functions.v[r->work.v[--r->work.n]]);
	return rc;
}

int dw_roads_add(struct dw_roads *r, uint32_t i)
{
	if (r->runs[i])
		return 0;
	r->runs[i] = true;
	return dw_vec_push(&r->work, i) ? -ENOMEM : follow_work(r);
}

/* Follow the code in [@at, @end), which no function has. */
static int follow_between(struct dw_roads *r, uint64_t at, uint64_t end)
{
	const uint8_t *bytes = at < end ? dw_clone_module_bytes(r->m, at, end - at) : NULL;
	struct dw_insn insn;
	int rc = 0;

	while (bytes && at < end && !rc) {
		if (!dw_insn_decode(bytes, end - at, &insn))
			insn = (struct dw_insn){.length = 1};
		if (insn.field_at)
			rc = reach(r, dw_insn_target(&insn, at));
		bytes += insn.length;
		at += insn.length;
	}
	return rc;
}

/*
 * Follow what the file says is code in [@at, @end), which no function has. Segments of code hold
 * data, too, where a linker makes one segment of both: half of a large library, decoded for
 * nothing. Without section headers all is followed.
 */
static int follow_gap(struct dw_roads *r, uint64_t at, uint64_t end)
{
	size_t n;
	const struct dw_elf_section *s = dw_elf_sections(r->m->elf, &n);
	int rc = 0;

	if (!n && at < end)
		return follow_between(r, at, end);
	for (size_t i = 0; i < n && at < end && !rc; i++) {
		uint64_t from = s[i].svma.v, to = from + s[i].bytes;

		if (s[i].flags & SHF_EXECINSTR && from < end && to > at)
			rc = follow_between(r, from > at ? from : at, to < end ? to : end);
	}
	return rc;
}

static int follow_gaps(struct dw_roads *r)
{
	int rc = 0;

	dw_vec_each(s, &r->m->segments) {
		uint64_t at = s->svma, end = s->svma + s->n;

		if (!(s->flags & PF_X))
			continue;
		dw_vec_each(f, &r->m->functions) {
			if (f->start < at || f->end > end)
				continue;
			if (!rc)
				rc = follow_gap(r, at, f->start);
			if (!rc && !f->n) /* left alone before it was decoded */
				rc = follow_between(r, f->start, f->end);
			at = f->end;
		}
		if (!rc)
			rc = follow_gap(r, at, end);
	}
	return rc;
}

static bool has_place(const struct dw_clone_module *m, uint64_t svma)
{
	const struct dw_clone_function *f;

	if (dw_rank_has(&m->insn_starts, svma))
		return true;
	f = dw_clone_function_at(m, svma);
	return f && dw_clone_is_place(m, f, svma);
}

/* What the operands of one share's functions lead to. */
struct operands {
	DW_VEC(uint64_t) to; /* svma */
	int rc;
};

struct all_operands {
	const struct dw_clone_module *m;
	struct operands of[DWELL_SHARES];
};

/* Addresses that code computes: clones compute them too, and they stay the module's. So do branches
 * into the middle of another function's instruction. */
static int find_operands(const struct dw_clone_module *m, const struct dw_clone_function *f,
			 struct operands *ret)
{
	const uint8_t *bytes = dw_clone_module_bytes(m, f->start, f->end - f->start);
	uint64_t at = f->start;

	for (uint32_t i = f->first; i < f->first + f->n; i++) {
		const struct dw_insn *insn = &m->insns.v[i];
		uint64_t to = dw_insn_target(insn, at);
		bool leads = insn->field_at && (insn->flags & DWELL_INSN_RIP || !has_place(m, to));

		if (!insn->field_at && m->is_fixed && bytes) {
			to = dw_flow_address_operand(m, insn, bytes + (at - f->start), at);
			leads = to;
		}
		if (leads && to - m->starts.base < m->starts.n && dw_vec_push(&ret->to, to))
			return -ENOMEM;
		at += insn->length;
	}
	return 0;
}

static void find_share(void *ctx, const struct dw_share *share)
{
	struct all_operands *all = ctx;
	const struct dw_clone_module *m = all->m;
	struct operands found = {0};

	for (uint32_t i = share->first; i < share->end && !found.rc; i++)
		found.rc = find_operands(m, &m->functions.v[i], &found);
	all->of[share->k] = found;
}

static int follow_operands(struct dw_roads *r)
{
	struct all_operands all = {.m = r->m};
	int rc = 0;

	dw_shares_run(r->m, find_share, &all);
	for (unsigned k = 0; k < DWELL_SHARES; k++) {
		struct operands *found = &all.of[k];

		rc = rc ? rc : found->rc;
		for (size_t i = 0; i < found->to.n && !rc; i++)
			rc = reach(r, found->to.v[i]);
		dw_vec_release(&found->to);
	}
	return rc;
}

static bool keeps_return(const struct dw_clone_module *m, const struct dw_clone_function *f)
{
	return f->n && memchr(m->marks.v + f->first, DWELL_MARK_KEEP_RETURN, f->n);
}

int dw_roads_find(const struct dw_clone_module *m, struct dw_roads *ret)
{
	int rc;

	*ret = (struct dw_roads){.m = m};
	ret->runs = calloc(m->functions.n, sizeof *ret->runs);
	if (!ret->runs || dw_rank_init(&ret->reached, m->starts.base, m->starts.n))
		return -ENOMEM;
	rc = follow_gaps(ret);
	if (!rc)
		rc = follow_operands(ret);
	for (size_t i = 0; i < m->pointers.n && !rc; i++)
		rc = reach(ret, m->pointers.v[i].to);
	for (uint32_t i = 0; i < m->functions.n && !rc; i++)
		if (m->functions.v[i].reason || keeps_return(m, &m->functions.v[i]))
			rc = dw_roads_add(ret, i);
	return rc ? rc : follow_work(ret);
}

bool dw_roads_reach(const struct dw_roads *r, uint64_t svma, uint64_t n)
{
	for (uint64_t i = 0; i < n; i++)
		if (dw_rank_has(&r->reached, svma + i))
			return true;
	return false;
}

void dw_roads_release(struct dw_roads *r)
{
	dw_rank_release(&r->reached);
	free(r->runs);
	dw_vec_release(&r->work);
}
