/*
 * Steps of making an image that are divided among threads, by functions.
 *
 * Shares are the same whatever the machine and whoever works on them, so what a step makes is too,
 * as long as shares change nothing of each other's but by setting bits.
 */
#pragma once

#include "clone/module.h"

enum { DWELL_SHARES = 2 };

/* Functions [first, end), of share @k. */
struct dw_share {
	unsigned k;
	uint32_t first;
	uint32_t end;
};

/* Call @work once for each share of @m, in threads of their own when that is worth it. Returns when
 * all have returned. */
void dw_shares_run(const struct dw_clone_module *m,
		   void (*work)(void *ctx, const struct dw_share *share), void *ctx);
