/*
 * Where the threads of a recording wait, and for how long, seen from outside.
 *
 * Times come from the kernel's records of switches where there are some (exact, without a look at
 * threads that rest); else from what /proc tells of each thread's times, which sum up exactly, too,
 * but for what it was ready for without a processor, which is a wait of its own kind. Stacks are
 * read while a thread waits (samples/procfs-stack.h): a wait that lasts is looked at once.
 *
 * A sampling backend owns one beside its dispatcher and calls it with each drain. Its timer wakes
 * the recording loop. One thread.
 */
#pragma once

#include "base/vec.h"
#include "collect/samples/dispatcher.h"
#include "collect/samples/procfs-stack.h"
#include "collect/waits/aggregator.h"
#include "target/proc.h"

#include <poll.h>
#include <stdbool.h>
#include <stdint.h>

enum { DWELL_WAIT_PARTS = 16 };

/* What a thread waits for was @holder's until then. */
struct dw_wait_part {
	uint64_t until_ns;
	struct dw_wait_holder holder;
};

/* One thread. Times are CLOCK_MONOTONIC ns. */
struct dw_waiter {
	uint32_t id;	  /* in the profile that this is about, 0 = none yet */
	uint64_t off_ns;  /* it waits since then, 0 = it does not */
	uint64_t told_ns; /* and is told up to there */
	bool is_assumed;  /* that it waits is a guess, which the first record may prove wrong */
	bool is_active;	  /* it was switched since the last look */
	bool has_stack;
	struct dw_wait_place place; /* that was seen last, */
	struct dw_task_place at;    /* if somebody has what it waits for there: where, */
	pid_t holder_tid;	    /* who, as the program knows him, 0 = nobody, */
	uint64_t held_ns;	    /* and when he was seen to have it last */
	struct dw_wait_part parts[DWELL_WAIT_PARTS]; /* of this wait, not told yet */
	unsigned parts_n;
	uint64_t seen_from_ns, seen_to_ns; /* when, */
	uint64_t look_ns;		   /* and how long after the look before */
	/* What the look before told, and when it was. */
	struct dw_task_times times;
	uint64_t looked_ns;
	/* With records: taken from its processor then, 0 = it was not; how long in all, and until
	 * the last look; how long it was ready before the recording; and how much of all that was
	 * at the ends of waits. */
	uint64_t preempted_at_ns, preempted_ns, preempted_told_ns, ready_from_ns, woken_ns;
	/* Without records: when the next look is due. */
	uint64_t due_ns;
	int64_t owed_ns;	 /* waited, but not told: who runs is told late of its time */
	uint64_t maybe_ready_ns; /* of it, but no wait if the thread was ready then */
	struct dw_wait_aggregator aggregator;
};

struct dw_waits_watch {
	struct dw_dispatcher *dispatcher; /* borrowed */
	bool has_records;		  /* switches are told of */
	int timer_fd;			  /* owned */
	uint64_t next_ns;		  /* look */
	uint64_t last_ns;		  /* likewise, the one before */
	uint64_t pause_ns;		  /* between looks */
	uint64_t random;
	uint32_t first;	  /* thread that is looked at first */
	bool is_busy;	  /* threads were switched since the last look */
	bool is_thrifty;  /* looks take their share of a processor at most */
	uint64_t cost_ns; /* of the last look, processor time */
	struct dw_remote_stack remote;
	bool knows_holders; /* some have been found */
	/* Whose stack was read last, when: many may wait for one. */
	struct dw_wait_holder holder;
	uint64_t holder_ns;
	uint32_t followed_n;		  /* threads that wait for a lock of a known holder */
	DW_VEC(struct dw_waiter) waiters; /* by the index of the track's threads */
	/* Of the scheduler's clock, to CLOCK_MONOTONIC, and when it was measured; 0 = not yet. */
	int64_t clock_offset_ns;
	uint64_t clock_ns;
	/* Told without a stack; what aggregators have of it, when their threads end. */
	uint64_t nameless_ns;
};

struct dw_waits_options {
	bool has_records; /* switches will be told of */
	bool is_attached; /* threads that are known already may wait since long */
	/* Looks take some percent of a processor at most: where many threads are switched, they
	 * become rare. */
	bool is_thrifty;
	uint64_t start_ns; /* CLOCK_MONOTONIC */
};

/* Begin with @in. 0 or -errno, to be released in any case. */
int dw_waits_begin(struct dw_waits_watch *w, struct dw_dispatcher *in,
		   const struct dw_waits_options *options);

/* Take in a record of a switch. 0 or -ENOMEM. */
int dw_waits_switch(struct dw_waits_watch *w, const struct dw_perf_record *r);

/*
 * Look, if it is time to, and tell what is known. Before what has come is taken in: who shares the
 * processor with us and was woken meanwhile is seen ready ever after, so that short waits would not
 * be seen. @final: the last time, after all was taken in. 0 or -ENOMEM.
 */
int dw_waits_look(struct dw_waits_watch *w, uint64_t now_ns, bool final);

/* Let the recording loop poll the timer: writes one descriptor to @fds. */
void dw_waits_poll_fd(const struct dw_waits_watch *w, struct pollfd *ret);

/* Free everything. */
void dw_waits_release(struct dw_waits_watch *w);

/* What intervals.c and waits.c share. */

/* The waiter of the thread with the index @i in the track, made anew when the number has passed to
 * another thread. NULL without memory. */
struct dw_waiter *dw_waits_waiter(struct dw_waits_watch *w, size_t i);

/* Read the stack of @th, now. 0 and v->place; DWELL_ERR_NOT_FOUND when it does not wait; -EAGAIN
 * when it went on meanwhile; -ENOMEM. @since: its times before, if they are known. Where we may not
 * look, the stack is the empty one. */
int dw_waits_see(struct dw_waits_watch *w, struct dw_tracked_thread *th, struct dw_waiter *v,
		 const struct dw_task_times *since);

/* Tell that @v waited on its stack from @begin_ns to @end_ns, @ns of it. 0 or -ENOMEM. */
int dw_waits_tell(struct dw_waits_watch *w, struct dw_waiter *v, uint64_t begin_ns, uint64_t end_ns,
		  uint64_t ns);

/* Tell of those parts of the wait of @v that have ended by @until_ns, while others had what it
 * waits for. Where the wait itself ends is only known when all records of that time have come. 0 or
 * -ENOMEM. */
int dw_waits_tell_parts(struct dw_waits_watch *w, struct dw_waiter *v, uint64_t until_ns);

/* Tell of a wait of @th that goes on at @now_ns as much as is due: of long ones seldom. Note whom
 * it waits for. 0 or -ENOMEM. */
int dw_waits_tell_piece(struct dw_waits_watch *w, const struct dw_tracked_thread *th,
			struct dw_waiter *v, uint64_t now_ns);

/* Look at @th, whose switches are told: whether a stack was read, or a negative code. @look_ns: the
 * time since the look before. */
int dw_waits_look_records(struct dw_waits_watch *w, struct dw_tracked_thread *th,
			  struct dw_waiter *v, uint64_t look_ns);

/* The same by its times. */
int dw_waits_look_times(struct dw_waits_watch *w, struct dw_tracked_thread *th, struct dw_waiter *v,
			uint64_t now_ns);

/* What is still open of @v ends at @now_ns. 0 or -ENOMEM. */
int dw_waits_close_records(struct dw_waits_watch *w, struct dw_waiter *v, uint64_t now_ns);

/* The same by its times. */
int dw_waits_close_times(struct dw_waits_watch *w, struct dw_waiter *v, uint64_t now_ns);
