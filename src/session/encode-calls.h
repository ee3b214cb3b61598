/*
 * From the calls of a profile to raw chunks; encode.h calls these kind by kind. Each appends rows
 * [@from, @to) to @b, whose @failed tells of missing memory.
 */
#pragma once

#include "base/buf.h"
#include "model/profile.h"

#include <stddef.h>

/* Nodes, by id - 1. */
void dw_put_call_nodes(struct dw_buf *b, const struct dw_profile *p, size_t from, size_t to);

/* Slices of time. */
void dw_put_call_slices(struct dw_buf *b, const struct dw_profile *p, size_t from, size_t to);

/* What nodes gained in slices. */
void dw_put_call_deltas(struct dw_buf *b, const struct dw_profile *p, size_t from, size_t to);

/* Shortest and longest activations. */
void dw_put_call_extremes(struct dw_buf *b, const struct dw_profile *p, size_t from, size_t to);

/* The slowest activations. */
void dw_put_call_slow(struct dw_buf *b, const struct dw_profile *p, size_t from, size_t to);

/* Mutes. */
void dw_put_call_mutes(struct dw_buf *b, const struct dw_profile *p, size_t from, size_t to);
