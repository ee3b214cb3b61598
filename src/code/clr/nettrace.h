/*
 * "nettrace": the form in which .NET runtimes (Core 3 and later) send their events.
 *
 * Hostile input, all bounds-checked. Source: NetTraceFormat_v5.md of PerfView, whose version 4 is
 * what they send. [any-thread]
 */
#pragma once

#include "base/buf.h"
#include "base/cursor.h"

#include <stddef.h>
#include <stdint.h>

struct dw_nettrace_event {
	uint32_t id;		/* as its provider counts */
	const uint8_t *payload; /* borrowed */
	size_t payload_n;
};

/* Not 0 ends the reading. */
typedef int dw_nettrace_fn(void *ctx, const struct dw_nettrace_event *e);

/*
 * Tell @fn of the events of @provider, which is ASCII, in the @n bytes at @bytes, the beginning of
 * a stream. It may end anywhere: what is whole counts. 0; what @fn returned; -ENOMEM;
 * DWELL_ERR_UNSUPPORTED: another version; DWELL_ERR_FORMAT: it makes no sense from some place on.
 */
int dw_nettrace_read(const void *bytes, size_t n, const char *provider, dw_nettrace_fn *fn,
		     void *ctx);

/* Pass over UTF-16 that ends in a NUL, and append it to @ret as UTF-8; NULL = only pass over.
 * Fails as @c does, or with @ret. */
void dw_nettrace_text(struct dw_cursor *c, struct dw_buf *ret);
