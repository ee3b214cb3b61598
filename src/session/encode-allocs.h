/*
 * From the allocations of a profile to raw chunks; encode.h calls these kind by kind. Each appends
 * rows [@from, @to) to @b, whose @failed tells of missing memory.
 */
#pragma once

#include "base/buf.h"
#include "model/profile.h"

#include <stddef.h>

/* Types, by id - 1. */
void dw_put_alloc_types(struct dw_buf *b, const struct dw_profile *p, size_t from, size_t to);

/* Groups, by id - 1. */
void dw_put_alloc_groups(struct dw_buf *b, const struct dw_profile *p, size_t from, size_t to);

/* Names of methods. */
void dw_put_alloc_methods(struct dw_buf *b, const struct dw_profile *p, size_t from, size_t to);

/* What groups gained in slices. */
void dw_put_alloc_deltas(struct dw_buf *b, const struct dw_profile *p, size_t from, size_t to);

/* Garbage collections. */
void dw_put_gcs(struct dw_buf *b, const struct dw_profile *p, size_t from, size_t to);
