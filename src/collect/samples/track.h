/*
 * Processes and threads that a recording follows, and what each process has mapped.
 *
 * Built from side-band records; where those are missing, from /proc. Numbers that the system reuses
 * lead to new rows. One slot per number, so memory does not grow with the number of processes that
 * ever were.
 */
#pragma once

#include "base/map.h"
#include "base/vec.h"
#include "collect/jit/jit.h"
#include "collect/samples/modules.h"
#include "collect/samples/record.h"
#include "model/profile.h"
#include "unwind/space.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct dw_mappings;
struct dw_interpreter_process;
struct dw_walk;

/* A small memory of frames already interned, indexed by address. */
struct dw_frame_memo {
	uint64_t avma;
	uint32_t frame;	     /* frame id, 0 = free */
	uint32_t generation; /* of the space that it was made in */
};

enum { DWELL_FRAME_MEMOS = 4096 };

struct dw_tracked_process {
	pid_t pid;
	uint32_t id;	     /* in the profile */
	uint32_t generation; /* counts changes of space */
	uint32_t threads;    /* alive */
	uint32_t anon;	     /* module id of its code without a file, 0 = none */
	bool ended;
	bool command_due;	 /* it has executed something that could not be read yet */
	uint64_t title_at_ns;	 /* not before this time is its command line read again */
	uint64_t user_before_ns; /* CPU time that it had used when the recording came to it */
	uint64_t kernel_before_ns;
	uint64_t user_samples, kernel_samples; /* kept */
	struct dw_space space;
	const void *runtime; /* that was asked for its code last, only compared; NULL = none */
	struct dw_jit_process *registry; /* of what runtimes write about its code, NULL = none */
	struct dw_interpreter_process
		*interpreter;	      /* its interpreter, owned; NULL = none was told */
	const struct dw_owner *owner; /* NULL = not looked at yet */
	uint64_t resync_at_ns;	      /* not before this time are mappings read from /proc again */
	uint64_t resync_ns;	      /* when they were, if no records tell of them */
	uint64_t resync_wait_ns;
	struct dw_frame_memo *memos; /* owned, DWELL_FRAME_MEMOS of them; NULL = none yet */
};

struct dw_tracked_thread {
	pid_t tid;
	uint32_t id; /* in the profile */
	struct dw_tracked_process *process;
	bool ended;
	bool listed;	      /* by /proc; the record of its birth may still come */
	uint64_t seen_ns;     /* when it was found in /proc last, by whom looks there */
	uint64_t gone_ns;     /* when it was found there no more, 0 = it is there */
	uint32_t untold;      /* how often it was found there, of which its process has not told */
	uint64_t pointer;     /* its own variables lie around it, 0 = not told */
	struct dw_walk *walk; /* its last stack; owned, NULL = none yet */
};

struct dw_track {
	struct dw_profile *profile;	 /* borrowed */
	struct dw_perf_modules *modules; /* borrowed */
	struct dw_jit *jit;		 /* borrowed, NULL = no registry is kept */
	bool is_open;	   /* what no record announced may be older than the recording */
	bool maps_untold;  /* no record tells of new mappings: they are looked for soon */
	uint64_t start_ns; /* that the profile's times count from */
	/* Of processes that have ended and whose CPU time nobody knows. */
	uint64_t unread_user, unread_kernel;
	struct dw_map by_pid; /* pid -> index + 1 in processes */
	struct dw_map by_tid;
	DW_VEC(struct dw_tracked_process *) processes;
	DW_VEC(struct dw_tracked_thread *) threads;
};

/* The thread @tid if it is known, borrowed until release. NULL = it is not. */
struct dw_tracked_thread *dw_track_find(const struct dw_track *t, pid_t tid);

/* Begin with @pid, the command to be, which has not executed it yet. 0 or -ENOMEM. */
int dw_track_command(struct dw_track *t, pid_t pid);

/* Begin with @tid of @pid, which runs already, as /proc describes it and its process. 0 or -ENOMEM.
 */
int dw_track_running(struct dw_track *t, pid_t pid, pid_t tid);

/* @th ended at @time_ns, and with the last one its process. Again is fine. */
void dw_track_end(struct dw_track *t, struct dw_tracked_thread *th, uint64_t time_ns);

/* Take in a side-band record, other kinds are ignored. 0 or -ENOMEM. */
int dw_track_record(struct dw_track *t, const struct dw_perf_record *r);

/* The thread @tid of @pid, made when it is not known, borrowed until release. 0 or -ENOMEM. */
int dw_track_thread(struct dw_track *t, pid_t pid, pid_t tid, uint64_t time_ns,
		    struct dw_tracked_thread **ret);

/*
 * A sample of @time_ns is in unknown code: read the mappings of @p again from /proc, unless that
 * was done lately. Whether anything changed.
 */
bool dw_track_resync(struct dw_track *t, struct dw_tracked_process *p, uint64_t time_ns);

/* Take in what @m lists of code that @p is not known to have. *@ret_changed (NULL = not wanted):
 * whether there was any. 0 or -ENOMEM. */
int dw_track_mappings(struct dw_track *t, struct dw_tracked_process *p, const struct dw_mappings *m,
		      bool *ret_changed);

/* Begin a registry of what runtimes write about the code of @p, if it has none and one can be had.
 * 0 or -ENOMEM. */
int dw_track_registry(struct dw_track *t, struct dw_tracked_process *p);

/* Look again at what @p, which has a sample of @time_ns, calls itself: servers put what they do
 * into their command line (setproctitle()), those that were forked before their first work. At most
 * once a second. 0 or -ENOMEM. */
int dw_track_title(struct dw_track *t, struct dw_tracked_process *p, uint64_t time_ns);

/* Read the CPU times of all processes that still exist into the profile, and their titles. */
void dw_track_cpu_times(struct dw_track *t);

/* The profile's time for @time_ns of CLOCK_MONOTONIC. */
uint64_t dw_track_time(const struct dw_track *t, uint64_t time_ns);

/* Free everything. */
void dw_track_release(struct dw_track *t);
