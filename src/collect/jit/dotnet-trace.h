/*
 * A rundown of a .NET runtime (8 and later) that runs already: events that tell what it has
 * compiled, as its diagnostics socket sends them. Nothing is waited for, and no more is kept than
 * DWELL_DOTNET_TRACE_BYTES. One thread.
 */
#pragma once

#include "base/buf.h"
#include "base/map.h"
#include "base/strings.h"
#include "base/vec.h"
#include "collect/samples/owners.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/*
 * What a .NET runtime tells in a rundown of the methods that it has compiled: where the code lies,
 * which method of which assembly it is, and from which of its IL each part comes. Hostile input.
 */

enum {
	DWELL_DOTNET_METHODS_MAX = 1 << 20,
	DWELL_DOTNET_IL_MAX = 8 << 20,
};

/* From @offset in the code on it comes from @il; -1 to -3 = from none. */
struct dw_dotnet_il {
	uint32_t offset;
	uint32_t il;
};

/* The code of a method, compiled once. */
struct dw_dotnet_method {
	uint64_t start; /* address */
	uint64_t module;
	uint64_t bytes;
	uint32_t token; /* row, 0 = made at run time */
	uint32_t il;	/* the first of @il_n rows, in no order */
	uint32_t il_n;
};

struct dw_dotnet_methods {
	DW_VEC(struct dw_dotnet_method) rows; /* index 0 unused */
	DW_VEC(struct dw_dotnet_il) il;
	struct dw_strings texts;
	struct dw_map by_start; /* -> the newest row */
	struct dw_map paths;	/* of modules -> text */
	/* The last of @il have come for a method that is to follow. */
	uint64_t next_method;
	uint32_t next_il_n;
};

/* Take in the stream of events of @n bytes at @bytes (code/clr/nettrace.h) into @m, which is empty.
 * What makes no sense is left out. 0 or -ENOMEM. */
int dw_dotnet_methods_read(struct dw_dotnet_methods *m, const void *bytes, size_t n);

/* The newest code of @bytes that begins at @start, borrowed. NULL = none was told. */
const struct dw_dotnet_method *dw_dotnet_methods_find(const struct dw_dotnet_methods *m,
						      uint64_t start, uint64_t bytes);

/* The path of the assembly of @method, borrowed. NULL = not told. */
const char *dw_dotnet_methods_path(const struct dw_dotnet_methods *m,
				   const struct dw_dotnet_method *method);

/* Free everything. */
void dw_dotnet_methods_release(struct dw_dotnet_methods *m);

/*
 * Asking a .NET runtime (8 and later) that runs already, by its diagnostics socket, for one to
 * write a perf map. The socket is looked for under the process's root, with its rights, and it must
 * be the process that listens there.
 */

struct dw_dotnet_process {
	pid_t pid;
	pid_t ns_pid;		      /* its number, as it sees itself */
	const struct dw_owner *owner; /* of the process */
	const struct dw_owner *own;   /* of this one */
};

/* What requests and answers begin with. */
struct dw_dotnet_head {
	char magic[14];
	uint16_t bytes; /* with this */
	uint8_t set, id;
	uint16_t reserved;
} __attribute__((packed));

/* Have it begin a perf map of all its code, and write on. A descriptor to keep open until the end,
 * whose answer need not be read. Or -errno, -ENOENT where no runtime listens. */
int dw_dotnet_ask_map(const struct dw_dotnet_process *p);

/* Have it end that. The map that it wrote stays, or goes if @removes. */
void dw_dotnet_end_map(const struct dw_dotnet_process *p, bool removes);

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
