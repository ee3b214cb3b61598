/*
 * The kernel's side of sampling: per CPU a pair of rings, and events that write into them.
 *
 * A task has three events on each CPU, and more beside (beside.h), and all that it starts later
 * inherits them. One samples registers and stack, another (which counts nothing) tells of mappings,
 * names, forks and exits through a ring of its own, so that a flood of samples never costs a
 * mapping. A third one, off at first, copies more of the stack; it takes the place of the first
 * where that is worth its cost.
 *
 * The rings belong to events of our own that never count: what is watched may end and leave them
 * be. One thread at a time.
 */
#pragma once

#include "base/error.h"
#include "base/vec.h"
#include "base/map.h"
#include "collect/backend.h"
#include "collect/perf/beside.h"
#include "collect/perf/event.h"
#include "collect/perf/ring.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct dw_perf_options {
	struct dw_perf_event event; /* without a name: cycles, or the CPU clock where there are none
				     */
	enum dw_sample_kernel kernel;
	uint32_t frequency_hz;
	uint64_t period;      /* of the event, 0 = by the frequency, or 1 for what is not steady */
	uint32_t stack_bytes; /* copied with each sample, a multiple of 8, at most
				 DWELL_PERF_STACK_MAX */
	uint32_t stack_bytes_max; /* likewise, after dw_perf_events_deepen(); more than stack_bytes,
				     or that is all */
	bool at_exec;		  /* events start at the task's next exec, not at once */
	bool system_wide;	  /* what is watched are CPUs, not tasks */
	dw_measures beside;	  /* what is recorded beside samples */
	bool identify;		  /* samples tell which event they come from */
};

enum { DWELL_PERF_STACK_MAX = 65000 };

/* The owners of the rings of one CPU. */
struct dw_perf_cpu {
	int number;
	int sample_fd; /* owned */
	int side_fd;   /* owned */
};

enum { DWELL_PERF_WATCH_FDS = 3 + DWELL_PERF_BESIDES_MAX };

/* Events of one task on one CPU. */
struct dw_perf_watch {
	int cpu; /* its number */
	union {
		int fds[DWELL_PERF_WATCH_FDS]; /* all of them, owned, -1 = none */
		struct {
			int sample_fd;
			int deep_fd; /* the same with more of the stack */
			int side_fd;
			int beside_fd[DWELL_PERF_BESIDES_MAX]; /* by dw_perf_beside() */
		};
	};
};

struct dw_perf_events {
	DW_VEC(struct dw_perf_cpu) cpus; /* online ones */
	DW_VEC(struct dw_perf_watch) watches;
	struct dw_map measure_of; /* identity of an event beside that samples -> what it feeds */
	struct dw_perf_event event;
	bool kernel;	  /* samples are taken there, too */
	bool counts_lost; /* reading an event tells how many records it lost */
	bool has_room;	  /* rings are large enough for deeper samples */
};

/*
 * Choose the event and make the rings: side-band rings first, as large as the limit of locked
 * memory allows. 0; DWELL_ERR_REFUSED with one line that names cause and cure; -errno. @ret and
 * @rings are empty after a failure.
 */
int dw_perf_events_open(const struct dw_perf_options *o, struct dw_perf_events *ret,
			struct dw_rings *rings, struct dw_error *err);

/* Whether @o can be had: 0, or what dw_perf_events_open() would say. */
int dw_perf_events_try(const struct dw_perf_options *o, struct dw_error *err);

/* Whether the kernel gives the events of @o and the smallest rings for them: 0, or what
 * dw_perf_events_open() would say. */
int dw_perf_events_check(const struct dw_perf_options *o, struct dw_error *err);

/*
 * Watch the task @tid and whatever it will start: first all side-band events, then those that
 * sample. 0; -ESRCH when it is gone; another -errno, for dw_perf_refusal(). Nothing is left open
 * after a failure.
 */
int dw_perf_events_watch(struct dw_perf_events *e, const struct dw_perf_options *o, pid_t tid);

/* The tid for dw_perf_events_watch() that stands for all there are. */
enum { DWELL_PERF_ALL_TASKS = -1 };

/* The period that samples of @event come by, 0 = by the frequency. */
uint64_t dw_perf_period(const struct dw_perf_event *event, const struct dw_perf_options *o);

/* Whether dw_perf_events_deepen() can do anything. */
bool dw_perf_events_can_deepen(const struct dw_perf_events *e);

/* Copy stack_bytes_max with each sample from now on. Again is fine. */
void dw_perf_events_deepen(const struct dw_perf_events *e);

/* What a sample of the event @identity has one of: a measure beside samples, or a sample. */
enum dw_measure dw_perf_events_measure(const struct dw_perf_events *e, uint64_t identity);

/* Stop counting. What is in the rings stays. */
void dw_perf_events_stop(const struct dw_perf_events *e);

/* Records lost so far, by events that sample and by those that do not. 0 where the kernel cannot
 * tell (counts_lost is false). */
void dw_perf_events_lost(const struct dw_perf_events *e, uint64_t *ret_samples, uint64_t *ret_side);

/* Close all. */
void dw_perf_events_release(struct dw_perf_events *e);
