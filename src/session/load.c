/* Loading a session from its chunks; see load.h. */
#include "session/load.h"

#include "session/decode.h"
#include "session/values.h"

#include <errno.h>
#include <stdlib.h>

int dw_loading_select(struct dw_loading *l, const struct dw_calls *calls, struct dw_error *err)
{
	struct dw_range_ns range;

	l->selected = calloc(calls->slices.n + 1, 1);
	if (!l->selected)
		return dw_error_set(err, -ENOMEM, "no memory to read it");
	dw_calls_select(calls, l->range->from_ns, l->range->to_ns, l->selected, &range);
	l->sums = (struct dw_call_sums){l->selected, calls->slices.n, 0};
	while (l->sums.first < calls->slices.n && !l->selected[l->sums.first])
		l->sums.first++;
	if (l->sums.first == calls->slices.n)
		l->sums.first = 0;
	return 0;
}

static int take_index(struct dw_loading *l, const struct dw_raw_chunk *c, struct dw_error *err)
{
	int rc = dw_decode_index(c, &l->index, err);

	if (!rc && dw_decode_expect(&l->index, l->items_max, l->p))
		rc = dw_error_set(err, -ENOMEM, "no memory to read it");
	return rc;
}

int dw_loading_take(struct dw_loading *l, const struct dw_raw_chunk *c, struct dw_error *err)
{
	l->seen.kinds[c->kind].chunks++;
	l->seen.kinds[c->kind].items += c->items;
	if (c->kind == DWELL_CHUNK_INDEX)
		return take_index(l, c, err);
	return dw_decode_chunk(c, l->range ? &l->sums : NULL, l->p, err);
}

/* Whether the chunks seen are those that the last commit counted. */
static int check_index(const struct dw_loading *l, struct dw_error *err)
{
	if (l->seen.kinds[DWELL_CHUNK_INDEX].chunks != 1 ||
	    l->seen.kinds[DWELL_CHUNK_FACTS].chunks != 1)
		return dw_error_set(err, DWELL_ERR_FORMAT, "damaged: chunks are missing");
	for (enum dw_chunk_kind kind = DWELL_CHUNK_STRINGS; kind < DWELL_CHUNK_KINDS; kind++)
		if (l->seen.kinds[kind].chunks != l->index.kinds[kind].chunks ||
		    l->seen.kinds[kind].items != l->index.kinds[kind].items)
			return dw_error_set(err, DWELL_ERR_FORMAT, "damaged: %s are missing",
					    dw_chunk_kind_name(kind));
	return 0;
}

/* One slice for all that was added up. */
static void join_slices(struct dw_calls *t)
{
	if (t->slices.n)
		t->slices.v[0] = t->slices.v[t->slices.n - 1];
	t->slices.n = t->slices.n ? 1 : 0;
}

int dw_loading_finish(struct dw_loading *l, struct dw_error *err)
{
	int rc = check_index(l, err);

	if (!rc)
		rc = dw_decode_finish(l->p, err);
	if (!rc && l->range && dw_session_range_is_all(l->range) && !l->keeps_slices)
		join_slices(&l->p->calls);
	if (!rc && dw_note_activity_of_deltas(l->p))
		rc = dw_error_set(err, -ENOMEM, "no memory to read it");
	/* A session may have nodes or groups and no deltas. */
	if (!rc && l->range &&
	    (dw_call_store_extend(&l->p->calls.sums, l->p->calls.nodes.n) ||
	     dw_alloc_store_extend(&l->p->allocations.sums, l->p->allocations.groups.n)))
		rc = dw_error_set(err, -ENOMEM, "no memory to read it");
	return rc;
}

void dw_loading_release(struct dw_loading *l)
{
	free(l->selected);
	l->selected = NULL;
}
