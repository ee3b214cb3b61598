/*
 * Bytes and distances of unwind tables; see unwind-output.h. The module's svma S is at distance
 * S - m->start - m->distance from the start of an area that needs no relocation.
 */
#include "clone/unwind-output.h"

#include <string.h>

void dw_unwind_put32(struct dw_unwind_output *o, uint32_t value)
{
	dw_buf_put(&o->buf, &value, sizeof value);
}

static void put_distance(struct dw_unwind_output *o, int64_t distance)
{
	o->too_far |= distance != (int32_t)distance;
	dw_unwind_put32(o, (uint32_t)distance);
}

void dw_unwind_put_area(struct dw_unwind_output *o, uint32_t to)
{
	put_distance(o, (int64_t)to - dw_unwind_here(o));
}

void dw_unwind_put_module(struct dw_unwind_output *o, uint64_t from, uint64_t svma)
{
	if (dw_vec_push(&o->to_module, dw_unwind_here(o)))
		o->buf.failed = true;
	put_distance(o, (int64_t)(svma - o->m->start - (uint64_t)o->m->distance - from));
}

void dw_unwind_set32(struct dw_unwind_output *o, uint32_t field, uint32_t value)
{
	if (!o->buf.failed)
		memcpy(o->buf.data + (field - o->at), &value, sizeof value);
}

void dw_unwind_align(struct dw_unwind_output *o, uint32_t to, char fill)
{
	while (dw_unwind_here(o) % to && !dw_buf_putc(&o->buf, fill))
		;
}
