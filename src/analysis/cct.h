/*
 * The calling context tree: call paths that pass a filter, in depth-first order, with what each has
 * of its own as sums up to there.
 *
 * Paths have ids, stacks or nodes of calls, and stand at positions: a subtree is a range of
 * positions, parents come before children, and siblings rise by their ids. Because sums are kept
 * from the first position on, what lies at or below a path is the difference of two of them, of any
 * measure. Differences are modulo 2^64, so that numbers of a hostile session do no harm.
 *
 * To make one: set the parents, mark the paths that have anything, dw_cct_order(), add amounts,
 * dw_cct_sum(). One thread.
 */
#pragma once

#include "model/amounts.h"

#include <stdbool.h>
#include <stdint.h>

enum {
	DWELL_CCT_NONE = UINT32_MAX,	      /* no path */
	DWELL_CCT_THREAD = UINT32_MAX,	      /* what hangs below it is its parent's */
	DWELL_CCT_STATEMENT = UINT32_MAX - 1, /* what it has of its own is its parent's own */
};

struct dw_cct {
	/* By id. */
	uint32_t ids_n;
	uint32_t *parent;   /* a smaller id, DWELL_CCT_NONE = it is a root; the maker sets it */
	uint32_t *position; /* of those in the tree */
	uint64_t *marks;    /* one bit: in the tree */
	uint32_t *counts;   /* samples, until positions have them; NULL = there are none */
	/* By position. */
	uint32_t n;
	uint32_t *id;
	uint32_t *end;	 /* behind the last position of its subtree */
	uint32_t *about; /* what it is about; the maker sets it: a frame, or of calls a function,
			  * DWELL_CCT_THREAD or DWELL_CCT_STATEMENT */
	uint32_t room;	 /* positions that there is memory for */
	bool has_statements; /* the maker sets it */
	/* Sums of the amounts of all positions before this one, with a last row for all of them. */
	unsigned common_n, rare_n;     /* places of struct dw_amounts */
	unsigned calls, samples, work; /* the places of these, 0 = there are none */
	uint64_t sample_ns;	       /* work of a sample, 0 = it has none */
	uint64_t *common;
	uint32_t *rare_row; /* its row in rare. Before they are summed up: behind it, its own + 1 */
	DW_VEC(uint64_t) rare;
};

/* A tree of paths with ids below @ids_n and of amounts as @like stores them. 0 or -ENOMEM, to be
 * released in either case. */
int dw_cct_init(struct dw_cct *t, uint32_t ids_n, const struct dw_amounts *like);

/* @id is in the tree, and so are its parents. */
static inline void dw_cct_mark(struct dw_cct *t, uint32_t id)
{
	t->marks[id / 64] |= 1ull << id % 64;
}

/* Mark @id, which has a sample more. */
static inline void dw_cct_count(struct dw_cct *t, uint32_t id)
{
	dw_cct_mark(t, id);
	t->counts[id]++;
}

/* Put what was marked in order. 0 or -ENOMEM. */
int dw_cct_order(struct dw_cct *t);

/* Something will soon be added to @id. */
static inline void dw_cct_expect(const struct dw_cct *t, uint32_t id)
{
	uint32_t p = t->position[id];

	__builtin_prefetch(&t->common[(p + 1ul) * t->common_n], 1);
	__builtin_prefetch(&t->about[p], 1);
}

/* Add @amount to what @id, which was marked, has of its own. 0 or -ENOMEM. */
int dw_cct_add(struct dw_cct *t, uint32_t id, const struct dw_amount *amount);

/* Add @n of the measure at @place, a common one, to what @id, which was marked, has of its own. */
static inline void dw_cct_add_one(struct dw_cct *t, uint32_t id, unsigned place, uint64_t n)
{
	t->common[(t->position[id] + 1ul) * t->common_n + place - 1] += n;
}

/* Whether @id is in the tree, once that is in order. */
static inline bool dw_cct_has(const struct dw_cct *t, uint32_t id)
{
	return t->marks[id / 64] >> id % 64 & 1;
}

/* Sum up. 0 or -ENOMEM. */
int dw_cct_sum(struct dw_cct *t);

/* Forget all but the parents. */
void dw_cct_clear(struct dw_cct *t);

/* Free what is known by id: only positions are asked for from now on. */
void dw_cct_forget_ids(struct dw_cct *t);

/* Free everything. */
void dw_cct_release(struct dw_cct *t);

/* Whether the path at @p has anything of its own. */
bool dw_cct_has_own(const struct dw_cct *t, uint32_t p);

/* What the path at @p has of its own of the measure at @place, which is a common one. */
static inline uint64_t dw_cct_own(const struct dw_cct *t, uint32_t p, unsigned place)
{
	const uint64_t *from = t->common + (size_t)p * t->common_n + place - 1;

	return from[t->common_n] - from[0];
}

/* Add rare amounts of the positions from @p to @end to @row. 0 or -ENOMEM. */
int dw_cct_add_rare(const struct dw_cct *t, uint32_t p, uint32_t end, struct dw_amounts *to,
		    uint32_t row, bool exclusive);

/* Add amounts of the positions from @p to @end to one side of @row of @to. 0 or -ENOMEM. */
static inline int dw_cct_add_span(const struct dw_cct *t, uint32_t p, uint32_t end,
				  struct dw_amounts *to, uint32_t row, bool exclusive)
{
	unsigned n = t->common_n;
	const uint64_t *from = t->common + (size_t)p * n, *until = t->common + (size_t)end * n;
	struct dw_values *v = to->common.v + (size_t)row * n;

	for (unsigned k = 0; k < n; k++)
		*(exclusive ? &v[k].exclusive : &v[k].inclusive) += until[k] - from[k];
	if (!t->rare_n || t->rare_row[p] == t->rare_row[end])
		return 0;
	return dw_cct_add_rare(t, p, end, to, row, exclusive);
}

/* What the path at @p has of its own is @row's own. 0 or -ENOMEM. */
static inline int dw_cct_add_own(const struct dw_cct *t, uint32_t p, struct dw_amounts *to,
				 uint32_t row)
{
	return dw_cct_add_span(t, p, p + 1, to, row, true);
}

/* All at or below @p is inclusive in @row, of calls only those of @p. 0 or -ENOMEM. */
static inline int dw_cct_add_all(const struct dw_cct *t, uint32_t p, struct dw_amounts *to,
				 uint32_t row)
{
	if (t->calls) {
		uint64_t behind = t->common[t->end[p] * (size_t)t->common_n + t->calls - 1];
		uint64_t own = t->common[(p + 1) * (size_t)t->common_n + t->calls - 1];

		to->common.v[(size_t)row * t->common_n + t->calls - 1].inclusive -= behind - own;
	}
	return dw_cct_add_span(t, p, t->end[p], to, row, false);
}
