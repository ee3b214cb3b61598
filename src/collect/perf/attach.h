/*
 * Watching processes that run already, without stopping them.
 *
 * All threads that /proc lists are watched, again and again until a listing holds none that is
 * neither watched nor known to have inherited. What attached threads start meanwhile is told by
 * their side-band events, so the owner takes records in between rounds and passes each fork on.
 */
#pragma once

#include "base/error.h"
#include "base/map.h"
#include "base/vec.h"
#include "collect/perf/events.h"
#include "collect/perf/records.h"
#include "collect/samples/track.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/*
 * Threads that two events sample: they were attached to while they were being made, so nobody knows
 * whether they had inherited. Of each thread and CPU the samples of one event count.
 */

struct dw_duplicates {
	struct dw_map watch_of; /* identity of an event -> index of its watch + 1 */
	struct dw_map chosen;	/* (thread, CPU) -> index of a watch + 1 */
	size_t watches_n;	/* watches so far */
};

/* Whether a sample of @thread (id in the profile) from the event @identity counts. 1, 0 or -ENOMEM.
 */
int dw_duplicates_counts(struct dw_duplicates *d, const struct dw_perf_events *e, uint32_t thread,
			 uint64_t identity);

/* Free the memory. */
void dw_duplicates_release(struct dw_duplicates *d);

/* A thread whose children inherit all events, when they were begun after a time. */
struct dw_attach_thread {
	pid_t tid;
	uint64_t inherits_ns;
};

struct dw_attach {
	struct dw_perf_events *events;	       /* borrowed */
	const struct dw_perf_options *options; /* borrowed */
	struct dw_track *track;		       /* borrowed */
	struct dw_duplicates *duplicates;      /* borrowed */
	DW_VEC(pid_t) pids;
	size_t named; /* of them were asked for, others they have begun meanwhile */
	DW_VEC(struct dw_attach_thread) threads;
	struct dw_map by_tid; /* -> index in threads + 1 */
	DW_VEC(pid_t) listed; /* pid and tid in turn */
	unsigned rounds;
};

/* Time that must lie between a round and the next, while records are taken in. */
enum { DWELL_ATTACH_PAUSE_MS = 20 };

/*
 * List the threads of all processes. 0; DWELL_ERR_NOT_FOUND when a process that was asked for is
 * gone, with one line.
 */
int dw_attach_list(struct dw_attach *a, struct dw_error *err);

/*
 * Watch the threads of the last listing that still need it. *@ret: how many those were, 0 = done.
 * 0; DWELL_ERR_REFUSED with one line that names cause and cure; -errno.
 */
int dw_attach_watch(struct dw_attach *a, size_t *ret, struct dw_error *err);

/* Take note of @r, the record of a fork. 0 or -ENOMEM. */
int dw_attach_fork(struct dw_attach *a, const struct dw_perf_record *r);

/* Free the memory. */
void dw_attach_release(struct dw_attach *a);
