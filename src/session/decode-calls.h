/*
 * From raw chunks to the calls of a profile, every number checked; decode.h calls these kind by
 * kind.
 *
 * Each takes @n rows from @c and appends them to @p. 0 or -ENOMEM; what makes no sense sets
 * c->failed, and then @p is only good for release. @n is at most the bytes that @c has.
 */
#pragma once

#include "base/cursor.h"
#include "model/profile.h"

#include <stddef.h>

/* Nodes: threads, parents, frames exist, and flags and parents fit each other. */
int dw_take_call_nodes(struct dw_cursor *c, size_t n, struct dw_profile *p);

/* Slices: their ends rise. */
int dw_take_call_slices(struct dw_cursor *c, size_t n, struct dw_profile *p);

/* What nodes gained in slices: both exist, slices rise. */
int dw_take_call_deltas(struct dw_cursor *c, size_t n, struct dw_profile *p);

/* The same rows, added up by node: calls.deltas has one row for each node so far, by node. */
int dw_take_call_sums(struct dw_cursor *c, size_t n, struct dw_profile *p);

/* Shortest and longest activations: threads and frames exist. */
int dw_take_call_extremes(struct dw_cursor *c, size_t n, struct dw_profile *p);

/* The slowest activations: their nodes exist. */
int dw_take_call_slow(struct dw_cursor *c, size_t n, struct dw_profile *p);
