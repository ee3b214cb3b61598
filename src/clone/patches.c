/*
 * Planning patches; see patches.h.
 *
 * A function that gets no patch is left alone, so its own code runs and may take the room of
 * others: planning starts again until nobody loses. Only what is shorter than a jump is cloned
 * without a patch: it calls nothing, and who calls it by a pointer runs its own code as well.
 * Padding belongs to nobody: it counts when a function certainly ends before it and all of it is
 * nop or int3 up to the next function.
 */
#include "clone/patches.h"

#include "clone/emit-calls-x86-64.h"
#include "clone/roads.h"

#include <errno.h>
#include <string.h>

enum { JUMP_BYTES = 5, HOP_BYTES = 2, HOP_REACH = 127, ENDBR_BYTES = 4, INT3 = 0xcc };

struct planner {
	struct dw_clone_module *m;
	struct dw_roads roads;
	struct dw_rank taken; /* bytes that patches write, or that must stay */
	struct dw_patches *ret;
};

static bool is_taken(const struct planner *p, uint64_t svma, uint64_t n)
{
	for (uint64_t i = 0; i < n; i++)
		if (dw_rank_has(&p->taken, svma + i))
			return true;
	return false;
}

static void take(struct planner *p, uint64_t svma, uint64_t n)
{
	for (uint64_t i = 0; i < n; i++)
		dw_rank_add(&p->taken, svma + i);
}

/* Whether what follows @f is not its continuation. */
static bool surely_ends(const struct dw_clone_module *m, const struct dw_clone_function *f)
{
	if (!f->n)
		return false;
	switch (m->insns.v[f->first + f->n - 1].kind) {
	case DWELL_INSN_JUMP:
	case DWELL_INSN_JUMP_INDIRECT:
	case DWELL_INSN_RETURN:
	case DWELL_INSN_STOP:
		return true;
	default:
		return false;
	}
}

/* Where the padding behind @f ends; f->end when there is none. */
static uint64_t padding_end(const struct planner *p, const struct dw_clone_function *f)
{
	const struct dw_clone_function *next = f + 1;
	struct dw_insn_detail detail;
	struct dw_insn insn;
	const uint8_t *bytes;

	if (next == p->m->functions.v + p->m->functions.n || !surely_ends(p->m, f) ||
	    next->start - f->end > HOP_REACH ||
	    dw_roads_reach(&p->roads, f->end, next->start - f->end))
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
	if (dw_roads_reach(&p->roads, at + 1, n - 1) || is_taken(p, at, n))
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
		    (to >= from || to + JUMP_BYTES <= at) && !is_taken(p, to, JUMP_BYTES))
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

	if (is_taken(p, at, next - at) ||
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
	*lost |= f->reason || !p->roads.runs[i];
	return dw_roads_add(&p->roads, i);
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
	rc = dw_roads_find(m, &p.roads);
	if (!rc)
		rc = dw_rank_init(&p.taken, m->starts.base, m->starts.n);
	while (!rc && lost)
		rc = plan_all(&p, &lost);
	dw_roads_release(&p.roads);
	dw_rank_release(&p.taken);
	if (rc)
		return -ENOMEM;
	if (ret->list.n)
		qsort(ret->list.v, ret->list.n, sizeof *ret->list.v, by_place);
	return 0;
}

void dw_patches_link(const struct dw_clone_module *m, struct dw_patches *p)
{
	dw_vec_each(x, &p->list) {
		if (x->patch.kind == DWELL_PATCH_JUMP)
			x->patch.target = x->insn == UINT32_MAX
						  ? m->functions.v[x->patch.function].clone_at
						  : dw_emit_return_place(m, x->insn - 1);
	}
}

void dw_patches_release(struct dw_patches *p)
{
	dw_vec_release(&p->list);
}
