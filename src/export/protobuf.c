/* Protocol Buffers; see protobuf.h. https://protobuf.dev/programming-guides/encoding/ */
#include "export/protobuf.h"

enum { VARINT = 0, LENGTH = 2, TYPE_BITS = 3 };

void dw_protobuf_number(struct dw_buf *message, unsigned field, uint64_t v)
{
	if (!v)
		return;
	dw_buf_put_uleb(message, (uint64_t)field << TYPE_BITS | VARINT);
	dw_buf_put_uleb(message, v);
}

void dw_protobuf_bytes(struct dw_buf *message, unsigned field, const void *p, size_t n)
{
	dw_buf_put_uleb(message, (uint64_t)field << TYPE_BITS | LENGTH);
	dw_buf_put_uleb(message, n);
	dw_buf_put(message, p, n);
}

void dw_protobuf_message(struct dw_buf *message, unsigned field, struct dw_buf *inner)
{
	dw_protobuf_bytes(message, field, inner->data, inner->len);
	message->failed |= inner->failed;
	dw_buf_clear(inner);
}
