/*
 * One run of a command with the probing agent in it: its modules run from clones.
 *
 * Launches, answers the agents of all its processes, reads what they counted. A program that cannot
 * take the agent runs as it is, with one warning (base/error.h). The calling thread must be the
 * only one. Signals are taken as in dw_record().
 */
#pragma once

#include "base/error.h"
#include "collect/region/regions.h"
#include "record/images.h"
#include "record/record.h"
#include "record/scope.h"

#include <stdbool.h>
#include <stdint.h>

struct dw_instrument_options {
	char *const *argv;	/* the command, NULL-terminated */
	const char *agent;	/* path of the object to preload */
	const char *os_source;	/* the only one that is tried, NULL = all are */
	double overhead;	/* part of the program's own time that probes may take, 0 = any */
	bool counts;		/* what is switched off for that is counted */
	uint64_t memory_bytes;	/* for the call trees of a process */
	uint64_t nodes_max;	/* of all call trees; processes that begin later are left out */
	uint32_t paths;		/* nodes of a thread's tree at most */
	const char *output;	/* path of the session, NULL = none is made */
	uint64_t duration_ns;	/* stop after this, 0 = when the command ends */
	bool wait_all;		/* go on until all instrumented descendants have ended */
	bool without_code;	/* leave machine code out of the session */
	bool with_source;	/* put the text of source files into it */
	uint32_t debuginfod_ms; /* ask servers for debug information, so long; 0 = no */
	const char *fallback;	/* folder for the session's files where /dev/shm refuses */
	struct dw_image_plan plan;			  /* its session_dir is not used */
	void (*progress)(void *ctx, uint64_t elapsed_ns); /* a few times a second; may be NULL */
	void *progress_ctx;
};

/* What became of the processes. */
struct dw_instrument_stats {
	uint64_t processes;    /* programs that ran with an agent, forks' children counted apart */
	uint64_t instrumented; /* of these: some module ran from clones */
	uint64_t off[DWELL_OFF_MISMATCH +
		     1]; /* of these: the agent was off, by enum dw_region_off */
	uint64_t drops[DWELL_DROP_N];
	uint64_t runtimes;	 /* of .NET that were loaded */
	uint64_t java_runtimes;	 /* likewise */
	uint64_t images_refused; /* modules beyond DWELL_IMAGES_MAX, or that nobody may read */
	struct dw_regions_stats regions;
};

struct dw_instrument_result {
	struct dw_record_result run;
	bool is_untouched; /* the command itself could not take the agent */
	struct dw_instrument_stats stats;
	struct dw_images *images; /* freed by dw_instrument_release(), as the next */
	struct dw_scope scope;
};

/*
 * Run @options->argv. 0 with a finished session if one was asked for. Else a negative code and
 * @err: when ret->run.pid is 0 the command was not started, else what was collected stays in
 * OUTPUT.partial. *@ret is filled in every case; release it.
 */
int dw_instrument(const struct dw_instrument_options *options, struct dw_instrument_result *ret,
		  struct dw_error *err);

/* Free what @r owns, plain values stay. */
void dw_instrument_release(struct dw_instrument_result *r);
