/*
 * Code without names: files whose symbols are not here, by how much of the work lies in them.
 */
#pragma once

#include "model/profile.h"
#include "model/totals.h"

#include <stddef.h>
#include <stdint.h>

enum { DWELL_NAMELESS_MAX = 3 };

struct dw_nameless {
	uint32_t modules[DWELL_NAMELESS_MAX]; /* ids, that with most first */
	unsigned n;
	uint64_t exclusive; /* of all their functions without names, of the main measure */
};

/* Find the files with functions that have no names, if these come to 5 % of everything in @t, the
 * totals of @p. None when there is no memory. */
void dw_nameless_find(const struct dw_profile *p, const struct dw_totals *t,
		      struct dw_nameless *ret);
