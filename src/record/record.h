/*
 * One recording by sampling, from launch (or attaching) to finished file.
 *
 * Drives launch, backend, session writer and finishing. It never prints: the command shows progress
 * through a callback. The calling thread must be the only one. SIGCHLD, SIGINT, SIGTERM and SIGHUP
 * are taken over while it runs and given back after.
 */
#pragma once

#include "base/error.h"
#include "collect/backend.h"

#include <stdbool.h>
#include <stdint.h>

/* How a running recording stands, a few times a second. */
struct dw_record_progress {
	uint64_t elapsed_ns;
	struct dw_backend_stats stats;
};

struct dw_record_options {
	char *const *argv; /* the command, NULL-terminated; NULL = pids, or all there is */
	const pid_t *pids; /* running processes to attach to, borrowed */
	size_t pids_n;
	const struct dw_backend_ops *backend; /* borrowed, static */
	const char *backend_agent; /* the file of its agent, for a backend that has one */
	const char *backend_why;   /* this backend, in words for the session; NULL = none needed */
	const char *output;	   /* path of the finished session */
	const char *cache_dir;	   /* for unwind tables, NULL = none */
	const char *clr_agent;	   /* of .NET runtimes, a path; NULL = none is wanted */
	const char *clr_why_not;   /* why none is, for struct dw_record_result */
	uint64_t duration_ns;	   /* stop recording after this, 0 = when the command ends */
	const char *event;	   /* that is sampled, NULL = time */
	uint64_t period;	   /* of the event, 0 = by the frequency */
	enum dw_sample_kernel kernel;
	bool off_cpu;	  /* where threads wait, too */
	bool system_wide; /* all processes, as long as the command runs */
	uint32_t frequency_hz;
	uint32_t stack_bytes;	/* 0 = the backend's choice */
	bool wait_all;		/* go on until all descendants have ended */
	bool without_code;	/* leave machine code out of the session */
	bool with_source;	/* put the text of source files into it */
	uint32_t debuginfod_ms; /* ask servers for debug information, so long; 0 = no */
	void (*progress)(void *ctx, const struct dw_record_progress *p); /* may be NULL */
	void *progress_ctx;
};

enum { DWELL_RECORD_WORDS = 256 };

struct dw_record_result {
	pid_t pid;	 /* of the command or the first process, 0 = it was never started */
	bool ended;	 /* the command, or all processes, have ended */
	int wait_status; /* of the command, as waitpid() gives it, when ended */
	int exec_error;	 /* not 0: the command could not be executed, with this code */
	int stop_signal; /* the signal that ended the recording, 0 = none */
	char nameless[DWELL_RECORD_WORDS]; /* why code of .NET runtimes has no names, "" = it has */
};

/*
 * Record @options->argv, or @options->pids, into @options->output.
 * Returns 0 with a finished session. Else a negative code and @err: when ret->pid is 0 the command
 * was not started or nothing attached to, else what was collected stays in OUTPUT.partial. *@ret is
 * filled in every case.
 */
int dw_record(const struct dw_record_options *options, struct dw_record_result *ret,
	      struct dw_error *err);

/* Wait for a command that outlived its recording. SIGINT, SIGTERM and SIGHUP are passed to it. Its
 * wait status, or DWELL_ERR_NOT_FOUND: nobody knows how it ended. */
int dw_record_wait(pid_t pid);
