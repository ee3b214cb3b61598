/*
 * Processes and threads of a recording, by dense ids that stay unique when the system reuses its
 * numbers.
 *
 * Times are nanoseconds since the start of the recording (the command's start, or the attach);
 * DWELL_TIME_NONE = not known, for an end: still alive when the recording ended.
 */
#pragma once

#include "base/vec.h"

#include <stdbool.h>
#include <stdint.h>

#define DWELL_TIME_NONE UINT64_MAX

struct dw_process {
	int32_t pid;		/* in the collector's namespace */
	uint32_t parent;	/* process id of the parent in this recording, 0 = none */
	uint32_t name;		/* string: the last name, after the last exec */
	uint64_t begin_ns;	/* since start */
	uint64_t end_ns;	/* or DWELL_TIME_NONE */
	uint64_t user_cpu_ns;	/* from the kernel's accounting, DWELL_TIME_NONE = not known */
	uint64_t kernel_cpu_ns; /* likewise */
	bool dirty;		/* changed since it was last written to the session */
};

struct dw_thread {
	uint32_t process; /* process id */
	int32_t tid;
	uint32_t name;	/* string: what the thread calls itself (comm) */
	uint32_t start; /* function id of its start routine, from its outermost user frame; 0 = not
			   known */
	uint64_t begin_ns;
	uint64_t end_ns;
	bool dirty;
};

struct dw_processes {
	DW_VEC(struct dw_process) rows;
};

struct dw_threads {
	DW_VEC(struct dw_thread) rows;
};

/* Append a copy of @row and give its id (1 and up). 0 or -ENOMEM. */
int dw_processes_add(struct dw_processes *t, const struct dw_process *row, uint32_t *ret);

/* The process of @id, borrowed until the next add. NULL for 0 and unknown ids. */
struct dw_process *dw_processes_get(const struct dw_processes *t, uint32_t id);

/* Number of processes. Ids run from 1 to this. */
uint32_t dw_processes_count(const struct dw_processes *t);

/* Append a copy of @row and give its id (1 and up). 0 or -ENOMEM. */
int dw_threads_add(struct dw_threads *t, const struct dw_thread *row, uint32_t *ret);

/* The thread of @id, borrowed until the next add. NULL for 0 and unknown ids. */
struct dw_thread *dw_threads_get(const struct dw_threads *t, uint32_t id);

/* Number of threads. Ids run from 1 to this. */
uint32_t dw_threads_count(const struct dw_threads *t);

/* Free everything. */
void dw_processes_release(struct dw_processes *t);

/* Free everything. */
void dw_threads_release(struct dw_threads *t);
