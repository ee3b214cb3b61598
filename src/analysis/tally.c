/* Counting once per stack; see tally.h. Growth doubles, so that ids may be made up on the way. */
#include "analysis/tally.h"

#include "base/vec.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Grow the zeroed array at *@p from @old to @n elements of @size bytes. */
static int grow(void **p, uint32_t old, uint32_t n, size_t size)
{
	void *bigger = reallocarray(*p, n, size);

	if (!bigger)
		return -ENOMEM;
	memset((char *)bigger + old * size, 0, (n - old) * size);
	*p = bigger;
	return 0;
}

int dw_tally_reserve(struct dw_tally *t, uint32_t n)
{
	if (n <= t->n)
		return 0;
	if (n < UINT32_MAX / 2 && n < t->n * 2)
		n = t->n * 2;
	if (grow((void **)&t->rows, t->n, n, sizeof *t->rows) ||
	    grow((void **)&t->touched, t->n, n, sizeof *t->touched) ||
	    (t->weighs && grow((void **)&t->amounts, t->n, n, sizeof *t->amounts)) ||
	    (t->waits && grow((void **)&t->blocked, t->n, n, sizeof *t->blocked)))
		return -ENOMEM;
	t->n = n;
	return 0;
}

void dw_tally_clear(struct dw_tally *t)
{
	for (uint32_t i = 0; i < t->touched_n; i++) {
		t->rows[t->touched[i]] = (struct dw_tally_row){0};
		if (t->amounts)
			t->amounts[t->touched[i]] = (struct dw_alloc_total){0};
		if (t->blocked)
			t->blocked[t->touched[i]] = (struct dw_blocked){0};
	}
	t->touched_n = 0;
}

void dw_tally_release(struct dw_tally *t)
{
	free(t->rows);
	free(t->amounts);
	free(t->blocked);
	free(t->touched);
	*t = (struct dw_tally){0};
}
