/*
 * Pending frames; see pending.h. Code at an address may change while its names are kept back, so a
 * frame stands for some tenths of a second only.
 */
#include "collect/jit/pending.h"

#include "base/error.h"
#include "collect/jit/functions.h"

#include <errno.h>

#define STANDS_FOR_NS 200000000ull

enum { FIRST = DWELL_JIT_FUNCTIONS_MAX + 1, ROWS_MAX = 1 << 20 };

int dw_jit_pending_add(struct dw_jit_pendings *t, struct dw_jit_open *open, uint64_t avma,
		       uint64_t time_ns, uint64_t *ret)
{
	uint32_t known = dw_map_get(&open->by_avma, avma), row = (uint32_t)t->rows.n;

	if (known && time_ns - t->rows.v[known - 1].time_ns < STANDS_FOR_NS) {
		*ret = (uint64_t)dw_jit_pending_token(known - 1) << 32;
		return 0;
	}
	if (row >= ROWS_MAX)
		return DWELL_ERR_LIMIT;
	if (dw_vec_push(&t->rows, (struct dw_jit_pending){avma, time_ns, 0}) ||
	    dw_vec_push(&open->rows, row) || dw_map_put(&open->by_avma, avma, row + 1))
		return -ENOMEM;
	*ret = (uint64_t)dw_jit_pending_token(row) << 32;
	return 0;
}

uint32_t dw_jit_pending_token(uint32_t row)
{
	return FIRST + row;
}

const struct dw_jit_pending *dw_jit_pending_at(const struct dw_jit_pendings *t, uint64_t svma)
{
	uint64_t token = svma >> 32;

	return token >= FIRST && token - FIRST < t->rows.n ? &t->rows.v[token - FIRST] : NULL;
}

void dw_jit_open_release(struct dw_jit_open *open)
{
	dw_vec_release(&open->rows);
	dw_map_release(&open->by_avma);
}
