/*
 * Sums of calls by dense id, with inclusive values counted once per path.
 *
 * An id is entered where a node on the path is about it and left behind that node's subtree. Where
 * the last one is left, the id was not on the path above: that is the outermost activation, and
 * what lies below it is its inclusive value.
 */
#pragma once

#include "base/vec.h"
#include "model/calls.h"

#include <stdbool.h>
#include <stdint.h>

struct dw_ledger_row {
	uint32_t id;
	union {
		uint32_t active; /* on the path so many times */
		uint32_t place;	 /* after the walk: where its total stands in its array */
	};
	uint64_t calls;
	uint64_t outer_calls;
	uint64_t counted;  /* of the calls: those that were not measured */
	bool is_measured;  /* a statement with probes of its own */
	bool has_arrivals; /* a line of such a one, on no known path: it counts its calls itself */
	bool is_repeated;  /* a line from which its function has called itself, likewise */
	struct dw_call_values inclusive, exclusive; /* but for calls */
};

/* What was counted for a row. */
struct dw_call_total {
	struct dw_call_values inclusive, exclusive; /* calls: the same in both */
	uint64_t outer_calls; /* outermost activations, by which inclusive averages divide */
	uint64_t counted;     /* of the calls: those of what was switched off, of unknown time */
};

struct dw_ledger {
	uint32_t *place; /* by id: its row + 1, 0 = none */
	uint32_t ids_n;
	DW_VEC(struct dw_ledger_row) rows;
};

/* Make room for ids below @n, keeping what is there. 0 or -ENOMEM. */
int dw_ledger_reserve(struct dw_ledger *l, uint32_t n);

/* The row of @id, below what was reserved, made when new. UINT32_MAX without memory. */
uint32_t dw_ledger_row(struct dw_ledger *l, uint32_t id);

/* The row of @id joins the path by activations that were called @calls times. */
static inline void dw_ledger_enter(struct dw_ledger *l, uint32_t row, uint64_t calls)
{
	struct dw_ledger_row *r = &l->rows.v[row];

	r->calls += calls;
	if (!r->active++)
		r->outer_calls += calls;
}

/* It leaves, @inclusive is what was below it. */
static inline void dw_ledger_leave(struct dw_ledger *l, uint32_t row,
				   const struct dw_call_values *inclusive)
{
	struct dw_ledger_row *r = &l->rows.v[row];

	if (!--r->active)
		dw_call_values_add(&r->inclusive, inclusive);
}

/* Add @own to the exclusive values of @row. */
static inline void dw_ledger_own(struct dw_ledger *l, uint32_t row,
				 const struct dw_call_values *own)
{
	dw_call_values_add(&l->rows.v[row].exclusive, own);
}

/* What was counted for row @i. */
struct dw_call_total dw_ledger_total(const struct dw_ledger *l, size_t i);

/* Forget all rows. */
void dw_ledger_clear(struct dw_ledger *l);

/* Free everything. */
void dw_ledger_release(struct dw_ledger *l);
