/* Ranks of statements; see line-ranks.h. */
#include "session/line-ranks.h"

struct wanted {
	const struct dw_totals *totals;
	uint32_t process, function;
	const struct dw_location *at;
};

static uint32_t hash_of(uint32_t process, uint32_t function, const struct dw_location *at)
{
	uint32_t words[] = {process,	function,     at->file,	     at->line,
			    at->column, at->line_end, at->column_end};

	return (uint32_t)dw_hash_bytes(words, sizeof words, 0);
}

static bool is_equal(const void *ctx, uint32_t id)
{
	const struct wanted *w = ctx;
	const struct dw_line_total *l = &w->totals->lines.v[id - 1];

	return l->process == w->process && l->function == w->function && l->file == w->at->file &&
	       l->line == w->at->line && l->column == w->at->column &&
	       l->line_end == w->at->line_end && l->column_end == w->at->column_end;
}

void dw_line_ranks_add(struct dw_line_ranks *r, const struct dw_totals *totals, size_t row,
		       uint32_t rank)
{
	const struct dw_line_total *l = &totals->lines.v[row];
	struct dw_location at = {.file = l->file,
				 .line = l->line,
				 .column = l->column,
				 .line_end = l->line_end,
				 .column_end = l->column_end};

	if (row < UINT32_MAX && !dw_map_put(&r->ranks, row, rank))
		(void)dw_idset_add(&r->lines, hash_of(l->process, l->function, &at),
				   (uint32_t)row + 1);
}

uint32_t dw_line_ranks_find(const struct dw_line_ranks *r, const struct dw_totals *totals,
			    uint32_t process, uint32_t function, const struct dw_location *at)
{
	struct wanted w = {totals, process, function, at};
	uint32_t id = dw_idset_find(&r->lines, hash_of(process, function, at), is_equal, &w);

	return id ? dw_map_get(&r->ranks, id - 1) : 0;
}

void dw_line_ranks_release(struct dw_line_ranks *r)
{
	dw_idset_release(&r->lines);
	dw_map_release(&r->ranks);
}
