/*
 * Asking a .NET runtime (8 and later) that runs already to write a perf map, by its diagnostics
 * socket. The socket is looked for under the process's root, with its rights, and it must be the
 * process that listens there. One thread.
 */
#pragma once

#include "collect/sampled/owners.h"

#include <stdbool.h>
#include <sys/types.h>

struct dw_dotnet_process {
	pid_t pid;
	pid_t ns_pid;		      /* its number, as it sees itself */
	const struct dw_owner *owner; /* of the process */
	const struct dw_owner *own;   /* of this one */
};

/* Have it begin a perf map of all its code, and write on. A descriptor to keep open until the end,
 * whose answer need not be read. Or -errno, -ENOENT where no runtime listens. */
int dw_dotnet_ask_map(const struct dw_dotnet_process *p);

/* Have it end that. The map that it wrote stays, or goes if @removes. */
void dw_dotnet_end_map(const struct dw_dotnet_process *p, bool removes);
