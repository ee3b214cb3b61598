/*
 * What .NET runtimes that run already are asked for, in registries: a perf map, and rundowns, which
 * say which IL their code comes from. One thread.
 */
#pragma once

#include "base/vec.h"
#include "collect/jit/code-map.h"
#include "collect/jit/dotnet-trace.h"

#include <stdbool.h>
#include <stdint.h>

struct dw_jit_process;

/* Code that samples lie in, of which is not known what it comes from. */
struct dw_dotnet_open {
	struct dw_code_piece code;
	uint32_t rundowns; /* that had begun when the first of them came */
};

struct dw_dotnet_registry {
	int map_fd;    /* by which a map was asked for, -1 = none was */
	char *program; /* the path of what the process executes, owned; NULL = not known */
	struct dw_dotnet_trace trace;
	struct dw_dotnet_methods methods; /* by the last rundown that has come */
	uint32_t rundowns;		  /* that have begun */
	bool is_coming;			  /* the last of them, which is not in @methods yet */
	uint64_t next_ns, wait_ns;	  /* not before this time the next; CLOCK_MONOTONIC */
	DW_VEC(struct dw_dotnet_open) open;
	size_t open_seen; /* of these were looked for in @methods */
};

#define DW_DOTNET_REGISTRY_INIT                             \
	{                                                   \
		.map_fd = -1, .trace = DW_DOTNET_TRACE_INIT \
	}

/* Ask for what has not been asked for, if that is wanted and it is a .NET runtime. */
void dw_jit_dotnet_begin(struct dw_jit_process *p);

/* Samples lie in @code, which has a function: find what it comes from. 0 or -ENOMEM. */
int dw_jit_dotnet_want(struct dw_jit_process *p, const struct dw_code_piece *code);

/* Take what has come of a rundown. */
void dw_jit_dotnet_more(struct dw_jit_process *p);

/* After that: find what can be found, and ask for another rundown if something cannot and it is
 * time. @now_ns is CLOCK_MONOTONIC. 0 or -ENOMEM. */
int dw_jit_dotnet_find(struct dw_jit_process *p, uint64_t now_ns);

/* Nothing is sampled any more: find what can be found, with a last rundown where that is of use,
 * but wait for it only while it comes. What was asked for ends, and leaves nothing in the process
 * or its files. 0 or -ENOMEM. */
int dw_jit_dotnet_end(struct dw_jit_process *p);

/* Free everything. */
void dw_dotnet_registry_release(struct dw_dotnet_registry *d);
