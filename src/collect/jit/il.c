/* IL of made code; see il.h. What a method does before its first own instruction is part of that,
 * and what comes from none is part of what is before it, as the agent has it. */
#include "collect/jit/il.h"

#include "base/vec.h"
#include "collect/jit/functions.h"

#include <errno.h>

enum { ROWS_MAX = 4 << 20 };

int dw_jit_ils_add(struct dw_jit_ils *t, const struct dw_dotnet_methods *m,
		   const struct dw_dotnet_method *method, uint32_t module, uint64_t svma)
{
	const uint64_t begin = (uint64_t)method->token << 32;

	if (t->rows.n + method->il_n + 2 > ROWS_MAX)
		return 0;
	if (dw_vec_push(&t->rows, (struct dw_jit_il){svma, begin, module}) ||
	    dw_vec_push(&t->rows,
			(struct dw_jit_il){dw_jit_functions_inside(svma, method->bytes), 0, 0}))
		return -ENOMEM;
	for (uint32_t i = 0; i < method->il_n; i++) {
		const struct dw_dotnet_il *il = &m->il.v[method->il + i];
		const struct dw_jit_il row = {dw_jit_functions_inside(svma, il->offset),
					      begin | il->il, module};

		if ((int32_t)il->il < 0 || il->offset >= method->bytes)
			continue;
		if (dw_vec_push(&t->rows, row))
			return -ENOMEM;
	}
	return 0;
}

static int compare(const void *pa, const void *pb)
{
	const struct dw_jit_il *a = pa, *b = pb;

	if (a->svma != b->svma)
		return a->svma < b->svma ? -1 : 1;
	/* The last one counts: what is known, of the latest part. */
	return (a->il > b->il) - (a->il < b->il);
}

void dw_jit_ils_sort(struct dw_jit_ils *t)
{
	if (t->rows.n)
		qsort(t->rows.v, t->rows.n, sizeof *t->rows.v, compare);
}

const struct dw_jit_il *dw_jit_ils_find(const struct dw_jit_ils *t, uint64_t svma)
{
	size_t n = dw_sorted_count(t->rows.v, t->rows.n, row, row->svma <= svma);
	const struct dw_jit_il *row = n ? &t->rows.v[n - 1] : NULL;

	return row && row->il && row->svma >> 32 == svma >> 32 ? row : NULL;
}

void dw_jit_ils_release(struct dw_jit_ils *t)
{
	dw_vec_release(&t->rows);
}
