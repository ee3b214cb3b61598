/*
 * Which process is which row of a profile that regions fill, and what its threads are called.
 *
 * A process is one row however often it executes a program: it is known by its number and birth.
 * One thread.
 */
#pragma once

#include "base/vec.h"
#include "collect/region/process.h"
#include "collect/region/regions.h"
#include "model/profile.h"

#include <stdbool.h>
#include <stdint.h>

struct dw_recorded_identity {
	pid_t pid;
	uint64_t start_ticks;
	uint32_t process; /* its row, which is its place in the list, too, counted from 1 */
	uint32_t regions; /* that are read for it now */
};

struct dw_recorded_processes {
	struct dw_profile *p; /* borrowed */
	DW_VEC(struct dw_recorded_identity) identities;
	uint32_t threads_named;
};

/*
 * A region came: the row of the process behind @look, added when it is new; @process is what the
 * kernel says of it, NULL = nothing. @begin_ns: when the region was made, since the start. 0 or
 * -ENOMEM.
 */
int dw_recorded_process(struct dw_recorded_processes *r, const struct dw_region_look *look,
			const struct dw_region_process *process, uint64_t begin_ns, uint32_t *ret);

/* A region of row @process is not read any more. @end_ns: it was over then, since the start;
 * DWELL_TIME_NONE = it is not over. Whether this was the end of the process. */
bool dw_recorded_process_left(struct dw_recorded_processes *r, uint32_t process, uint64_t end_ns);

/* Name the threads that have come, all of row @process with number @pid (0 = not known): by what
 * they call themselves, else as their process. */
void dw_recorded_threads_name(struct dw_recorded_processes *r, uint32_t process, pid_t pid);

/* Free everything. */
void dw_recorded_processes_release(struct dw_recorded_processes *r);
