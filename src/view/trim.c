/*
 * Small rows left out of an open view, as call trees leave out small branches.
 *
 * What has less than its share of all, with what it called, is no row, and what is below it is none
 * either. How much that is in all is kept: of rows that have values of their own these, since what
 * they have with their callees overlaps; of callers and callees what the calls took, which does
 * not.
 */
#include "view/rows.h"

#include "model/worth.h"

/* Count @row as left out. Nobody knows what a call site has of its own. */
static void count(struct dw_view *v, const struct dw_row *row)
{
	const struct dw_totals *t = v->request.totals;
	struct dw_hidden *hidden = &v->hidden[row->type];
	uint64_t weight = 0;

	hidden->n++;
	hidden->is_exclusive = row->type == DWELL_ROW_CURRENT;
	if (dw_measured_value(&row->measured, dw_totals_order(t), hidden->is_exclusive, &weight))
		hidden->weight += weight;
	else
		hidden->is_unknown = true;
}

void dw_view_trim(struct dw_view *v)
{
	struct dw_buf scratch = DW_BUF_INIT;
	struct dw_worth worth;
	uint32_t cut = UINT32_MAX; /* the level of the branch that is left out */
	size_t kept = 0;

	dw_worth_init(&worth, v->request.totals, v->request.pruning.trim_pct);
	for (size_t i = 0; i < v->n; i++) {
		struct dw_row row;

		dw_view_row(v, i, &scratch, &row);
		if (row.level > cut)
			continue;
		cut = UINT32_MAX;
		if ((v->ops->tells_current && row.type == DWELL_ROW_CURRENT) ||
		    dw_worth_has(&worth, row.measured.table, row.measured.row, false)) {
			v->items[kept++] = v->items[i];
			continue;
		}
		count(v, &row);
		cut = row.level;
	}
	v->n = kept;
	dw_buf_release(&scratch);
}
