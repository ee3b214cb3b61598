/*
 * A rundown of a .NET runtime (8 and later) that runs already: events that tell what it has
 * compiled, as its diagnostics socket sends them. Nothing is waited for, and no more is kept than
 * DWELL_DOTNET_TRACE_BYTES. One thread.
 */
#pragma once

#include "base/buf.h"
#include "collect/jit/dotnet-ipc.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { DWELL_DOTNET_TRACE_BYTES = 64 << 20 };

struct dw_dotnet_trace {
	bool is_older; /* the runtime does not know the newer request */
	int fd;	       /* from which it comes, -1 = nothing more comes */
	int stop_fd;   /* by which it was asked to end, -1 = it was not */
	struct dw_buf bytes;
};

#define DW_DOTNET_TRACE_INIT            \
	{                               \
		.fd = -1, .stop_fd = -1 \
	}

/* Ask @p for one. @t has none that goes on; what it had goes. 0 or -errno, -ENOENT where no runtime
 * listens. */
int dw_dotnet_trace_begin(struct dw_dotnet_trace *t, const struct dw_dotnet_process *p);

/* Take what has come. */
void dw_dotnet_trace_more(struct dw_dotnet_trace *t, const struct dw_dotnet_process *p);

/* What has come of the stream (code/clr/nettrace.h), *@ret_n bytes, borrowed. NULL = nothing, or it
 * was refused. */
const void *dw_dotnet_trace_stream(const struct dw_dotnet_trace *t, size_t *ret_n);

/* Free everything. A runtime that goes on sending notices. */
void dw_dotnet_trace_release(struct dw_dotnet_trace *t);
