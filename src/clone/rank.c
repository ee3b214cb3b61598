/*
 * Sets of addresses with ranks; see rank.h. A binary search for each of the millions of branches
 * and operands of a large program would cost more than decoding it.
 */
#include "clone/rank.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

int dw_rank_init(struct dw_rank *r, uint64_t base, uint64_t n)
{
	*r = (struct dw_rank){.base = base, .n = n};
	r->bits = calloc(n / 64 + 1, sizeof *r->bits);
	r->before = calloc(n / 64 + 1, sizeof *r->before);
	return r->bits && r->before ? 0 : -ENOMEM;
}

void dw_rank_count(struct dw_rank *r)
{
	uint32_t sum = 0;

	for (uint64_t i = 0; i <= r->n / 64; i++) {
		r->before[i] = sum;
		sum += dw_rank_bits(r->bits[i]);
	}
}

void dw_rank_clear(struct dw_rank *r)
{
	memset(r->bits, 0, (r->n / 64 + 1) * sizeof *r->bits);
}

void dw_rank_release(struct dw_rank *r)
{
	free(r->bits);
	free(r->before);
	*r = (struct dw_rank){0};
}
