/* Sums of calls; see call-ledger.h. Rows are dense, so that ids that never come up cost 4 bytes. */
#include "analysis/call-ledger.h"

#include <errno.h>
#include <string.h>

int dw_ledger_reserve(struct dw_ledger *l, uint32_t n)
{
	uint32_t *bigger;

	if (n <= l->ids_n)
		return 0;
	if (n < UINT32_MAX / 2 && n < l->ids_n * 2)
		n = l->ids_n * 2;
	bigger = reallocarray(l->place, n, sizeof *l->place);
	if (!bigger)
		return -ENOMEM;
	memset(bigger + l->ids_n, 0, (n - l->ids_n) * sizeof *bigger);
	l->place = bigger;
	l->ids_n = n;
	return 0;
}

uint32_t dw_ledger_row(struct dw_ledger *l, uint32_t id)
{
	if (l->place[id])
		return l->place[id] - 1;
	if (l->rows.n >= UINT32_MAX - 1 || dw_vec_push(&l->rows, (struct dw_ledger_row){.id = id}))
		return UINT32_MAX;
	l->place[id] = (uint32_t)l->rows.n;
	return l->place[id] - 1;
}

struct dw_call_total dw_ledger_total(const struct dw_ledger *l, size_t i)
{
	const struct dw_ledger_row *row = &l->rows.v[i];
	struct dw_call_total total = {.inclusive = row->inclusive,
				      .exclusive = row->exclusive,
				      .outer_calls = row->outer_calls,
				      .counted = row->counted};

	total.inclusive.calls = total.exclusive.calls = row->calls;
	return total;
}

void dw_ledger_clear(struct dw_ledger *l)
{
	dw_vec_each(row, &l->rows)
		l->place[row->id] = 0;
	l->rows.n = 0;
}

void dw_ledger_release(struct dw_ledger *l)
{
	free(l->place);
	dw_vec_release(&l->rows);
	*l = (struct dw_ledger){0};
}
