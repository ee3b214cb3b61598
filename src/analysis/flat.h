/*
 * Flat totals of one process: functions, modules, edges, lines, instructions, from one walk over
 * its tree of stacks.
 */
#pragma once

#include "analysis/subjects.h"
#include "analysis/tally.h"
#include "analysis/trie.h"

#include <stdint.h>

struct dw_edge_key {
	uint32_t caller;
	uint32_t callee;
};

struct dw_flat {
	const struct dw_subjects *subjects;
	unsigned parts; /* enum dw_totals_part */
	uint32_t only;	/* edges: of this function, 0 = all */
	struct dw_tally functions, modules, lines, instructions, edges;
	struct dw_map edge_ids;		 /* caller << 32 | callee -> edge id */
	DW_VEC(struct dw_edge_key) keys; /* by edge id */
	uint32_t clock;			 /* of the walk: see tally.h */
};

/* What trees have beside samples. */
enum dw_flat_more { DWELL_FLAT_SAMPLES, DWELL_FLAT_AMOUNTS, DWELL_FLAT_WAITS };

/* Prepare for @parts over @subjects (borrowed). 0 or -ENOMEM, to be released in either case. */
int dw_flat_init(struct dw_flat *f, const struct dw_subjects *subjects, unsigned parts,
		 enum dw_flat_more more);

/* Before the walk: count @values for the part of a stack that @stack of @t is (@part: enum
 * dw_stack_part). 0 or -ENOMEM. */
int dw_flat_add_part(struct dw_flat *f, const struct dw_trie *t, uint32_t stack, unsigned part,
		     const struct dw_alloc_values *values);

/* Walk the linked @t and append the rows of @process to @ret. 0 or -ENOMEM. */
int dw_flat_count(struct dw_flat *f, const struct dw_trie *t, uint32_t process,
		  struct dw_totals *ret);

/* Free everything. */
void dw_flat_release(struct dw_flat *f);
