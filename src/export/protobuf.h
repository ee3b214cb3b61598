/*
 * Messages of Protocol Buffers, as far as writing them goes: a message is bytes in a buffer.
 *
 * A field of value 0, or an empty one, is left out, as readers take it for that. Growing fails as
 * in base/buf.h: ask buf->failed at the end.
 */
#pragma once

#include "base/buf.h"

#include <stddef.h>
#include <stdint.h>

/* Append the number @v as field @field. */
void dw_protobuf_number(struct dw_buf *message, unsigned field, uint64_t v);

/* Append @n bytes at @p as field @field: a text, a message within, or packed numbers. Empty ones
 * too, since a list of texts may have such. */
void dw_protobuf_bytes(struct dw_buf *message, unsigned field, const void *p, size_t n);

/* Append the message @inner as field @field, and empty it for the next one. */
void dw_protobuf_message(struct dw_buf *message, unsigned field, struct dw_buf *inner);
