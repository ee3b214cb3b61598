/*
 * The unwind part of a clone image in the making: bytes at known area offsets, and the fields that
 * are distances to the area or to the module.
 *
 * Puts set o->buf.failed without memory, and o->too_far when a distance does not fit 32 bits: both
 * are looked at once, at the end. One thread.
 */
#pragma once

#include "base/buf.h"
#include "clone/module.h"
#include "clone/read/lsda.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct dw_unwind_output {
	const struct dw_clone_module *m; /* borrowed */
	uint32_t at;			 /* area offset of the first byte */
	struct dw_buf buf;
	DW_VEC(uint32_t) to_module; /* area offsets */
	bool too_far;
};

/* Area offset of the next byte. */
static inline uint32_t dw_unwind_here(const struct dw_unwind_output *o)
{
	return o->at + (uint32_t)o->buf.len;
}

/* Append a number of 4 bytes. */
void dw_unwind_put32(struct dw_unwind_output *o, uint32_t value);

/* Append the distance from the field to area offset @to. */
void dw_unwind_put_area(struct dw_unwind_output *o, uint32_t to);

/* Append the distance from area offset @from to @svma in the module, which the agent corrects. */
void dw_unwind_put_module(struct dw_unwind_output *o, uint64_t from, uint64_t svma);

/* Append @lsda of @f, after the layout, to @o. */
void dw_lsda_write(const struct dw_lsda *lsda, const struct dw_clone_function *f,
		   struct dw_unwind_output *o);
