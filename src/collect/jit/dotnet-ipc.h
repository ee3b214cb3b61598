/*
 * Asking a .NET runtime (8 and later) that runs already, by its diagnostics socket, for one to
 * write a perf map. The socket is looked for under the process's root, with its rights, and it must
 * be the process that listens there. One thread.
 */
#pragma once

#include "collect/sampled/owners.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

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

/* Send the request @id of @set, which has the @n bytes at @content, a few hundred at most. A
 * descriptor for the answer, which does not block. Or -errno, -ENOENT where no runtime listens. */
int dw_dotnet_ask(const struct dw_dotnet_process *p, uint8_t set, uint8_t id, const void *content,
		  size_t n);

/* Have it begin a perf map of all its code, and write on. A descriptor to keep open until the end,
 * whose answer need not be read. Or -errno, -ENOENT where no runtime listens. */
int dw_dotnet_ask_map(const struct dw_dotnet_process *p);

/* Have it end that. The map that it wrote stays, or goes if @removes. */
void dw_dotnet_end_map(const struct dw_dotnet_process *p, bool removes);
