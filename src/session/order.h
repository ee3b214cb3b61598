/*
 * The order of rows in the tables of totals: heaviest first, call trees depth first.
 */
#pragma once

#include "model/totals.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * The rows of an array of @t, those with most of their own of the main measure first, then most at
 * or below them (or the other way round), then as they were.
 * @amounts  that member of the first element; NULL when @n is 0.
 * @stride   bytes from one element to the next.
 * *@ret: @n indices, malloc()ed. 0 or -ENOMEM.
 */
int dw_order_rows(const struct dw_totals *t, const uint32_t *amounts, size_t stride, size_t n,
		  bool by_inclusive, size_t **ret);

/* What a node needs, one of it at least. */
struct dw_node_shares {
	uint64_t inclusive_min; /* samples, or what the method has in their place */
	uint64_t blocked_min;	/* ns, where waits were recorded */
};

/*
 * The nodes of @t with at least @least, parents before their children, heaviest child first and
 * followed by all of its own. *@ret: their indices, malloc()ed, *@ret_n of them. 0 or -ENOMEM.
 */
int dw_order_nodes(const struct dw_totals *t, const struct dw_node_shares *least, size_t **ret,
		   size_t *ret_n);
