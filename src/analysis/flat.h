/*
 * Flat totals of one lane: functions, modules, edges, lines and instructions, from one walk over
 * its calling context tree.
 *
 * A walk asks for the rows that a path is about and lets each join it: what lies at or below the
 * path is inclusive in those that are not on the path above already. Rows are known by dense ids:
 * functions as in row-keys.h, behind them the root rows of threads.
 */
#pragma once

#include "analysis/cct.h"
#include "analysis/row-keys.h"
#include "base/map.h"
#include "model/totals.h"

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>

struct dw_flat_row {
	uint32_t amounts; /* its row in totals.amounts + 1, 0 = there is none yet */
	union {
		uint32_t until; /* on the walk's path at positions below this */
		uint32_t place; /* after the walk: where it stands in its array of totals */
	};
};

/* Rows of one kind. */
struct dw_flat_rows {
	struct dw_flat_row *v; /* by id */
	uint32_t ids_n;	       /* 0 = nobody wants them */
	DW_VEC(uint32_t) seen; /* ids that have a row, in order of first sight */
};

struct dw_flat_edge {
	uint32_t caller, callee; /* functions */
};

enum dw_flat_line {
	DWELL_LINE_MEASURED = 1, /* a statement with probes of its own */
	DWELL_LINE_ARRIVALS = 2, /* likewise, on no known path: it counts its calls itself */
	DWELL_LINE_REPEATED = 4, /* likewise, from which its function has called itself */
};

struct dw_flat {
	const struct dw_row_keys *row_keys;
	unsigned parts; /* enum dw_totals_part */
	uint32_t only;	/* edges: of this function, 0 = all */
	struct dw_flat_rows functions, modules, lines, instructions, edges;
	struct dw_map edge_ids;		  /* caller << 32 | callee -> edge id */
	DW_VEC(struct dw_flat_edge) keys; /* by edge id */
	DW_VEC(uint32_t) path;		  /* positions that the walk is at */
	uint8_t *line_flags;		  /* of calls, by line: enum dw_flat_line */
	/* At hand. */
	const struct dw_cct *tree;
	struct dw_totals *out;
};

/* Prepare for @parts over @row_keys (borrowed). 0 or -ENOMEM, to be released in either case. */
int dw_flat_init(struct dw_flat *f, const struct dw_row_keys *row_keys, unsigned parts,
		 uint32_t only);

/* Rows of @tree are appended to @out from now on. */
void dw_flat_begin(struct dw_flat *f, const struct dw_cct *tree, struct dw_totals *out);

/* The walk comes to position @p: *@above is the position of its parent, UINT32_MAX = it has none.
 * 0 or -ENOMEM. */
int dw_flat_step(struct dw_flat *f, uint32_t p, uint32_t *above);

/* Make a row of @id, which has none. 0 or -ENOMEM. */
int dw_flat_make(struct dw_flat *f, struct dw_flat_rows *rows, uint32_t id);

/* Find the row of @id in the amounts at hand, made when new. 0, 1 = nobody wants it, or -ENOMEM. */
static inline int dw_flat_find(struct dw_flat *f, struct dw_flat_rows *rows, uint32_t id,
			       uint32_t *ret)
{
	if (!rows->ids_n)
		return 1;
	if (!rows->v[id].amounts && dw_flat_make(f, rows, id))
		return -ENOMEM;
	*ret = rows->v[id].amounts - 1;
	return 0;
}

/* The path at position @p is about @id, too. 0 or -ENOMEM. */
static inline int dw_flat_join(struct dw_flat *f, struct dw_flat_rows *rows, uint32_t id,
			       uint32_t p)
{
	uint32_t row;
	int rc = dw_flat_find(f, rows, id, &row);

	if (rc || p < rows->v[id].until)
		return rc < 0 ? rc : 0;
	rows->v[id].until = f->tree->end[p];
	return dw_cct_add_all(f->tree, p, &f->out->amounts, row);
}

/* What the path at @p has of its own is @id's own. 0 or -ENOMEM. */
static inline int dw_flat_own(struct dw_flat *f, struct dw_flat_rows *rows, uint32_t id, uint32_t p)
{
	uint32_t row;
	int rc = dw_flat_find(f, rows, id, &row);

	return rc ? rc < 0 ? rc : 0 : dw_cct_add_own(f->tree, p, &f->out->amounts, row);
}

/* Both. 0 or -ENOMEM. */
static inline int dw_flat_join_own(struct dw_flat *f, struct dw_flat_rows *rows, uint32_t id,
				   uint32_t p)
{
	uint32_t row;
	int rc = dw_flat_find(f, rows, id, &row);

	if (rc)
		return rc < 0 ? rc : 0;
	if (p >= rows->v[id].until) {
		rows->v[id].until = f->tree->end[p];
		rc = dw_cct_add_all(f->tree, p, &f->out->amounts, row);
	}
	return rc | dw_cct_add_own(f->tree, p, &f->out->amounts, row);
}

/* Add @amount to the row of @id, on no path. 0 or -ENOMEM. */
int dw_flat_add(struct dw_flat *f, struct dw_flat_rows *rows, uint32_t id,
		const struct dw_amount *amount, enum dw_amounts_side side);

/* The edge from @caller to @callee: its id, 0 = nobody wants it, UINT32_MAX = no memory. */
uint32_t dw_flat_edge(struct dw_flat *f, uint32_t caller, uint32_t callee);

/* Count a part of a stack (@part: enum dw_stack_part) whose innermost frame is @frame, called from
 * @above, UINT32_MAX = nobody knows. 0 or -ENOMEM. */
int dw_flat_add_part(struct dw_flat *f, uint32_t frame, uint32_t above, unsigned part,
		     const struct dw_amount *amount);

/* Walk the tree, which is one of stacks. 0 or -ENOMEM. */
int dw_flat_walk_stacks(struct dw_flat *f);

/* Append the rows to their arrays of totals, as those of @lane. 0 or -ENOMEM. */
int dw_flat_put(struct dw_flat *f, uint32_t lane);

/* Free everything. */
void dw_flat_release(struct dw_flat *f);
