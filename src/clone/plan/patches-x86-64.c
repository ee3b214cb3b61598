/*
 * Planning patches, and what may still be reached in the module's own code when the entries of
 * cloned functions lead to clones; see plan.h.
 *
 * The original code of a function may run when it is left alone, or when something can enter it
 * behind its start: a pointer, an address that code computes, a branch of other code that runs.
 * Then its own branches are followed too. Code between functions (assembly without unwind rules,
 * the linker's) is decoded as it comes; that may find too much, which costs a patch, not more.
 *
 * A function that gets no patch is left alone, so its own code runs and may take the room of
 * others: planning starts again until nobody loses. Only what is shorter than a jump is cloned
 * without a patch: it calls nothing, and who calls it by a pointer runs its own code as well.
 * Padding belongs to nobody: it counts when a function certainly ends before it and all of it is
 * nop or int3 up to the next function.
 */
#include "clone/plan/plan.h"

#include "clone/plan/flow-x86-64.h"
#include "code/decode/insn-x86-64.h"

#include <elf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct reach {
	const struct dw_clone_module *m; /* borrowed */
	struct dw_rank reached;		 /* addresses that something leads to */
	bool *runs;			 /* by function: its original code may run */
	DW_VEC(uint32_t) work;		 /* functions whose branches are still to be followed */
};

static int reach(struct reach *r, uint64_t svma)
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
	return insn->field_at && !(insn->flags & DWELL_INSN_RELATIVE);
}

static int follow_function(struct reach *r, const struct dw_clone_function *f)
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

static int follow_work(struct reach *r)
{
	int rc = 0;

	while (r->work.n && !rc)
		rc = follow_function(r, &r->m->functions.v[r->work.v[--r->work.n]]);
	return rc;
}

/* The original code of function @i may run after all: follow its branches. 0 or -ENOMEM. */
static int run_original(struct reach *r, uint32_t i)
{
	if (r->runs[i])
		return 0;
	r->runs[i] = true;
	return dw_vec_push(&r->work, i) ? -ENOMEM : follow_work(r);
}

/* Follow the code in [@at, @end), which no function has. */
static int follow_between(struct reach *r, uint64_t at, uint64_t end)
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
static int follow_gap(struct reach *r, uint64_t at, uint64_t end)
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

static int follow_gaps(struct reach *r)
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
		bool leads =
			insn->field_at && (insn->flags & DWELL_INSN_RELATIVE || !has_place(m, to));

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

static int follow_operands(struct reach *r)
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

/* Find what may be reached of @m with the reasons set so far. 0 or -ENOMEM, to be released in any
 * case. */
static int find_reach(const struct dw_clone_module *m, struct reach *ret)
{
	int rc;

	*ret = (struct reach){.m = m};
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
			rc = run_original(ret, i);
	return rc ? rc : follow_work(ret);
}

/* Whether @r has one of the @n addresses from @svma on. */
static bool has_any(const struct dw_rank *r, uint64_t svma, uint64_t n)
{
	for (uint64_t i = 0; i < n; i++)
		if (dw_rank_has(r, svma + i))
			return true;
	return false;
}

static void release_reach(struct reach *r)
{
	dw_rank_release(&r->reached);
	free(r->runs);
	dw_vec_release(&r->work);
}

enum { JUMP_BYTES = 5, HOP_BYTES = 2, HOP_REACH = 127, ENDBR_BYTES = 4, INT3 = 0xcc };

struct planner {
	struct dw_clone_module *m;
	struct reach reach;
	struct dw_rank taken; /* bytes that patches write, or that must stay */
	struct dw_patches *ret;
};

static void take(struct planner *p, uint64_t svma, uint64_t n)
{
	for (uint64_t i = 0; i < n; i++)
		dw_rank_add(&p->taken, svma + i);
}

/* Where the padding behind @f ends; f->end when there is none. */
static uint64_t padding_end(const struct planner *p, const struct dw_clone_function *f)
{
	const struct dw_clone_function *next = f + 1;
	struct dw_insn_detail detail;
	struct dw_insn insn;
	const uint8_t *bytes;

	if (next == p->m->functions.v + p->m->functions.n || !f->n ||
	    dw_clone_goes_on_behind(p->m, f, f->first + f->n - 1) ||
	    next->start - f->end > HOP_REACH ||
	    has_any(&p->reach.reached, f->end, next->start - f->end))
		return f->end;
	bytes = dw_clone_module_bytes(p->m, f->end, next->start - f->end);
	for (uint64_t at = f->end; bytes && at < next->start; at += insn.length) {
		const uint8_t *b = bytes + (at - f->end);

		if (!dw_insn_decode_detail(b, next->start - at, &insn, &detail) ||
		    (detail.op != DWELL_OP_NOP && *b != INT3))
			return f->end;
	}
	return bytes ? next->start : f->end;
}

/* Whether a patch of @n bytes may stand at @at, in @f and the padding behind it. */
static bool has_room(const struct planner *p, const struct dw_clone_function *f, uint64_t at,
		     uint64_t n)
{
	if (has_any(&p->reach.reached, at + 1, n - 1) || has_any(&p->taken, at, n))
		return false;
	return at + n <= f->end || (at < f->end && at + n <= padding_end(p, f));
}

static int add(struct planner *p, const struct dw_clone_function *f, uint64_t at, uint32_t insn)
{
	struct dw_planned_patch add = {.insn = insn};

	add.patch.at = (uint32_t)(at - p->m->start);
	add.patch.function = (uint32_t)(f - p->m->functions.v);
	add.patch.kind = DWELL_PATCH_JUMP;
	memcpy(add.patch.old, dw_clone_module_bytes(p->m, at, JUMP_BYTES), JUMP_BYTES);
	take(p, at, JUMP_BYTES);
	return dw_vec_push(&p->ret->list, add);
}

/* A place for a jump in the padding behind @g that a hop at @at reaches; 0 = none. */
static uint64_t place_in_padding(const struct planner *p, const struct dw_clone_function *g,
				 uint64_t at)
{
	uint64_t end = padding_end(p, g), from = at + HOP_BYTES;

	for (uint64_t to = g->end; to + JUMP_BYTES <= end; to++) {
		int64_t distance = (int64_t)(to - from);

		if (distance >= -HOP_REACH && distance <= HOP_REACH &&
		    (to >= from || to + JUMP_BYTES <= at) && !has_any(&p->taken, to, JUMP_BYTES))
			return to;
	}
	return 0;
}

static uint64_t find_padding(const struct planner *p, const struct dw_clone_function *f,
			     uint64_t at)
{
	const struct dw_clone_function *first = p->m->functions.v, *end = first + p->m->functions.n;
	uint64_t to = 0;

	for (const struct dw_clone_function *g = f; g < end && !to && g->end <= at + HOP_REACH; g++)
		to = place_in_padding(p, g, at);
	for (const struct dw_clone_function *g = f; g > first && !to; g--) {
		if (g->start + HOP_REACH < at)
			break;
		to = place_in_padding(p, g - 1, at);
	}
	return to;
}

/* 0; DWELL_ERR_NOT_FOUND; -ENOMEM. */
static int plan_hop(struct planner *p, const struct dw_clone_function *f, uint64_t at)
{
	struct dw_planned_patch hop = {.insn = UINT32_MAX};
	uint64_t to;

	if (!has_room(p, f, at, HOP_BYTES))
		return DWELL_ERR_NOT_FOUND;
	to = find_padding(p, f, at);
	if (!to)
		return DWELL_ERR_NOT_FOUND;
	take(p, at, HOP_BYTES);
	hop.patch.at = (uint32_t)(at - p->m->start);
	hop.patch.target = (uint8_t)(to - (at + HOP_BYTES));
	hop.patch.function = (uint32_t)(f - p->m->functions.v);
	hop.patch.kind = DWELL_PATCH_HOP;
	memcpy(hop.patch.old, dw_clone_module_bytes(p->m, at, HOP_BYTES), HOP_BYTES);
	if (dw_vec_push(&p->ret->list, hop))
		return -ENOMEM;
	return add(p, f, to, UINT32_MAX);
}

static int plan_entry(struct planner *p, const struct dw_clone_function *f)
{
	static const uint8_t endbr64[ENDBR_BYTES] = {0xf3, 0x0f, 0x1e, 0xfa};
	const uint8_t *bytes = dw_clone_module_bytes(p->m, f->start, ENDBR_BYTES);
	bool has_endbr =
		bytes && f->end - f->start > ENDBR_BYTES && !memcmp(bytes, endbr64, sizeof endbr64);
	uint64_t behind = f->start + ENDBR_BYTES;
	int rc = DWELL_ERR_NOT_FOUND;

	if (has_endbr && has_room(p, f, behind, JUMP_BYTES))
		return add(p, f, behind, UINT32_MAX);
	if (has_endbr)
		rc = plan_hop(p, f, behind);
	if (rc == DWELL_ERR_NOT_FOUND && has_room(p, f, f->start, JUMP_BYTES))
		return add(p, f, f->start, UINT32_MAX);
	return rc == DWELL_ERR_NOT_FOUND ? plan_hop(p, f, f->start) : rc;
}

/* The call @i of @f at @at keeps its return address @next: it must stay, and a jump back stands
 * behind it. The last one of a function returns, if at all, to what follows, as it always did. 0;
 * DWELL_ERR_NOT_FOUND: not possible; -ENOMEM. */
static int plan_return(struct planner *p, const struct dw_clone_function *f, uint32_t i,
		       uint64_t at, uint64_t next)
{
	bool is_last = next == f->end;

	if (has_any(&p->taken, at, next - at) ||
	    (!is_last && (next + JUMP_BYTES > f->end || !has_room(p, f, next, JUMP_BYTES))))
		return DWELL_ERR_NOT_FOUND;
	take(p, at, next - at);
	return is_last ? 0 : add(p, f, next, i + 1);
}

static int plan_returns(struct planner *p, const struct dw_clone_function *f)
{
	uint64_t at = f->start;
	int rc = 0;

	if (!f->n || !memchr(p->m->marks.v + f->first, DWELL_MARK_KEEP_RETURN, f->n))
		return 0;
	for (uint32_t i = f->first; i < f->first + f->n && !rc; i++) {
		uint64_t next = at + p->m->insns.v[i].length;

		if (p->m->marks.v[i] & DWELL_MARK_KEEP_RETURN)
			rc = plan_return(p, f, i, at, next);
		at = next;
	}
	return rc;
}

/* Plan @f, or leave it alone. *@lost: its own code runs, which was not known. 0 or -ENOMEM. */
static int plan_function(struct planner *p, struct dw_clone_function *f, bool *lost)
{
	uint32_t i = (uint32_t)(f - p->m->functions.v);
	int rc = plan_returns(p, f);

	if (rc == DWELL_ERR_NOT_FOUND) {
		f->reason = DWELL_LEFT_RETURN_ADDRESS;
	} else if (!rc && !(f->flags & DWELL_CLONE_COLD)) {
		rc = plan_entry(p, f);
		if (!rc)
			f->flags |= DWELL_CLONE_REDIRECTED;
		else if (rc == DWELL_ERR_NOT_FOUND && f->end - f->start >= JUMP_BYTES)
			f->reason = DWELL_LEFT_NO_ROOM;
	}
	if (rc != DWELL_ERR_NOT_FOUND)
		return rc;
	*lost |= f->reason || !p->reach.runs[i];
	return run_original(&p->reach, i);
}

static int plan_all(struct planner *p, bool *lost)
{
	int rc = 0;

	*lost = false;
	p->ret->list.n = 0;
	dw_rank_clear(&p->taken);
	dw_vec_each(f, &p->m->functions) {
		f->flags &= (uint8_t)~DWELL_CLONE_REDIRECTED;
		if (!f->reason && !rc)
			rc = plan_function(p, f, lost);
	}
	return rc;
}

static int by_place(const void *a, const void *b)
{
	const struct dw_planned_patch *x = a, *y = b;

	return (x->patch.at > y->patch.at) - (x->patch.at < y->patch.at);
}

int dw_patches_plan(struct dw_clone_module *m, struct dw_patches *ret)
{
	struct planner p = {.m = m, .ret = ret};
	bool lost = true;
	int rc;

	*ret = (struct dw_patches){0};
	rc = find_reach(m, &p.reach);
	if (!rc)
		rc = dw_rank_init(&p.taken, m->starts.base, m->starts.n);
	while (!rc && lost)
		rc = plan_all(&p, &lost);
	release_reach(&p.reach);
	dw_rank_release(&p.taken);
	if (rc)
		return -ENOMEM;
	if (ret->list.n)
		qsort(ret->list.v, ret->list.n, sizeof *ret->list.v, by_place);
	return 0;
}

void dw_patches_release(struct dw_patches *p)
{
	dw_vec_release(&p->list);
}
