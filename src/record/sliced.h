/*
 * A session that is made of the regions of a command's processes, slice by slice.
 *
 * A slice is about a second at first and never shorter than 1 % of the time so far, nor than 100
 * times what reading the regions took. What a region ends with between two slices goes to the next
 * one, whose row is written when its time has come. Deltas never pile up beyond a limit: then they
 * are written at once. One thread.
 */
#pragma once

#include "base/vec.h"
#include "collect/region/process.h"
#include "collect/region/regions.h"
#include "model/profile.h"
#include "record/recorder.h"

#include <stdbool.h>
#include <stdint.h>

/*
 * Which process is which row of a profile that regions fill, and what its threads are called.
 *
 * A process is one row however often it executes a program: it is known by its number and birth.
 */

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

/* How long slices are. */
struct dw_slice_pace {
	uint64_t ns;	     /* at first */
	uint32_t cost_share; /* times what reading took, at least */
};

struct dw_sliced {
	struct dw_recorder *recorder; /* borrowed, as the next */
	struct dw_profile *p;
	struct dw_recorded_processes processes;
	struct dw_slice_pace pace;
	uint64_t start_ns; /* CLOCK_MONOTONIC */
	uint64_t next_ns;  /* when the slice that goes on ends */
	uint64_t early_ns; /* how long the next one is that comes early, 0 = none does */
};

/* The first slice of @recorder begins at its start. Release. */
void dw_sliced_init(struct dw_sliced *s, struct dw_recorder *recorder);

/* The moment @ns of CLOCK_MONOTONIC, counted from the start. */
uint64_t dw_sliced_time(const struct dw_sliced *s, uint64_t ns);

/* End this slice in @ns, and let the next ones be longer step by step from there, but as long as
 * reading takes. */
void dw_sliced_hasten(struct dw_sliced *s, uint64_t ns);

/* The number of the slice that goes on. */
uint32_t dw_sliced_now(const struct dw_sliced *s);

/* The number of the slice that has ended last, for which regions are read. */
uint32_t dw_sliced_last(const struct dw_sliced *s);

/* When the region of @look, which is looked at a last time, was over, since the start;
 * DWELL_TIME_NONE = the recording ends before it. */
uint64_t dw_sliced_end_of(const struct dw_sliced *s, const struct dw_region_look *look);

/* Write what has piled up, if it is much, of what is read for @slice: if that goes on, it ends now.
 */
void dw_sliced_relieve(struct dw_sliced *s, uint32_t slice);

/* When a slice is due, end it, call @read for each region, and write. 0 or the first failure, which
 * repeats. */
int dw_sliced_tick(struct dw_sliced *s, struct dw_regions *regions,
		   void (*read)(void *ctx, const struct dw_region_look *look), void *ctx,
		   struct dw_error *err);

/* End the last slice and note how the run went. */
void dw_sliced_end(struct dw_sliced *s);

/* Free everything. */
void dw_sliced_release(struct dw_sliced *s);
