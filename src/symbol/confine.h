/*
 * Giving up rights: what a helper process does before it reads hostile debug information.
 *
 * Call only in a new process with one thread.
 */
#pragma once

#include "target/source.h"

#include <stdbool.h>
#include <stddef.h>

struct dw_confinement {
	const struct dw_module_source *whose; /* root and credentials to take */
	const int *keep;		      /* descriptors that stay open */
	size_t keep_n;
	unsigned cpu_seconds;
	size_t file_bytes; /* what may be written to files that are open */
};

/*
 * Close all other descriptors, take root and credentials of the target where they differ from ours,
 * set limits, forget all system calls that a reader does not need. Where root or credentials cannot
 * be taken, no file can be opened any more: what is open already remains readable. Returns 0 or
 * -errno: then the process must end.
 */
int dw_confine(const struct dw_confinement *c);

/* Install the seccomp filter of this processor. 0 or -errno. */
int dw_confine_filter(bool may_open);
