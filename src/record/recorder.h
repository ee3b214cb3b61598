/*
 * The recorder and what it drives: one collector, of samples, calls, allocations or from a file.
 *
 * The recorder owns what all of them need: the command or processes, signals, the session and its
 * profile, the loop and its clock, the end. A collector owns what it collects with, fills the
 * profile and says when it is due. One thread.
 */
#pragma once

#include "base/error.h"
#include "model/profile.h"
#include "record/finish.h"
#include "record/record.h"
#include "record/run.h"
#include "session/write.h"

#include <poll.h>
#include <stdbool.h>
#include <stdint.h>

struct dw_collector; /* each collector's own state */

struct dw_recorder {
	const struct dw_record_options *options; /* borrowed, as the next */
	struct dw_record_result *result;
	struct dw_collector *collector;
	struct dw_profile profile;
	struct dw_run run;
	struct dw_session_writer *writer; /* NULL = no session is made */
	bool has_begun;			  /* what is recorded runs */
	int rc;				  /* the first failure of collecting and writing */
	struct dw_error why;
	uint64_t next_tick_ns;
	uint64_t due_ns; /* when the collector has something to do */
};

struct dw_collector_ops {
	const char *activity; /* for errors that have no words of their own */
	const char *method; /* for the session, whose start is noted; NULL = the collector notes all
			       of it */
	bool runs_nothing; /* no command, no processes and no signals; what fails leaves no .partial
			    */
	/* What must stand before the command is forked: r->run.launch.environment is for it. *@ret,
	 * which has @r, is released also after a failure. */
	int (*prepare)(struct dw_recorder *r, struct dw_collector **ret, struct dw_error *err);
	/* The command waits to be executed (r->run.launch.pid), or processes run: attach to them.
	 * It is r->run.start_ns, which may be set to a later moment. May be NULL, as the next. */
	int (*start)(struct dw_collector *c, struct dw_error *err);
	/* Descriptors to poll for POLLIN before drain, at most @max; asked for again each time. */
	size_t (*poll_fds)(struct dw_collector *c, struct pollfd *fds, size_t max);
	/* Take what is ready. */
	int (*drain)(struct dw_collector *c, struct dw_error *err);
	/* After that, with the time: do what is due, and tell when there is more. NULL = drain
	 * always has something. */
	int (*tick)(struct dw_collector *c, uint64_t now_ns, uint64_t *ret_due_ns,
		    struct dw_error *err);
	/* A few times a second; may be NULL. */
	void (*beat)(struct dw_collector *c, uint64_t now_ns);
	/* Under --wait-all, when the command has ended: whether its descendants go on. May be NULL
	 */
	bool (*goes_on)(const struct dw_collector *c);
	/* Counters of samples, for facts and progress; may be NULL. */
	void (*stats)(const struct dw_collector *c, struct dw_backend_stats *ret);
	/* It is over, because of failure @rc if that is not 0: take the rest, call dw_run_end() and
	 * note facts. @rc, or a first failure. */
	int (*stop)(struct dw_collector *c, int rc, struct dw_error *err);
	/* The session is closed and will be finished by @options: add whence names come, borrowed
	 * until free. The profile is gone after it. */
	void (*finish)(struct dw_collector *c, struct dw_finish_options *options);
	/* Release everything. NULL is fine. */
	void (*free)(struct dw_collector *c);
};

/* Keep @rc if it is the first failure, 0 is none: nothing is written any more, and the recording
 * ends. */
void dw_recorder_fail(struct dw_recorder *r, int rc);

/* Write what has come since the last time. 0 or the first failure, which repeats; @err may be NULL.
 */
int dw_recorder_flush(struct dw_recorder *r, struct dw_error *err);
