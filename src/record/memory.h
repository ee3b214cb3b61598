/*
 * One run of a command whose .NET processes have the agent of allocations.
 *
 * Launches, reads what the agents count. What is no .NET program runs as it is. The calling thread
 * must be the only one. Signals are taken as in dw_record().
 */
#pragma once

#include "base/error.h"
#include "collect/region/regions.h"
#include "record/record.h"

#include <stdbool.h>
#include <stdint.h>

struct dw_memory_options {
	char *const *argv;     /* the command, NULL-terminated */
	const char *agent;     /* absolute path of the runtime's agent */
	const char *output;    /* path of the session */
	const char *fallback;  /* folder for the session's files where /dev/shm refuses */
	uint64_t memory_bytes; /* for the tables of a process */
	uint64_t duration_ns;  /* stop after this, 0 = when the command ends */
	bool wait_all;	       /* go on until all .NET descendants have ended */
	uint64_t sample_bytes; /* draw one object in so many bytes, 0 = record all */
	bool without_lifetime;
	bool collects_at_end; /* a last collection when a runtime ends */
	bool without_stacks;
	bool has_natives;	/* which native functions lie between managed ones */
	uint32_t debuginfod_ms; /* ask servers for debug information, so long; 0 = no */
	uint32_t check;		/* compare one stack in so many with the runtime's, 0 = none */
	bool has_oracle;	/* compare generations and the heap with the runtime's */
	bool without_children;	/* .NET programs that .NET programs start run as they are */
	void (*progress)(void *ctx, uint64_t elapsed_ns); /* a few times a second; may be NULL */
	void *progress_ctx;
};

struct dw_memory_result {
	struct dw_record_result run;
	uint64_t processes; /* that had the agent */
	struct dw_regions_stats regions;
};

/*
 * Run @options->argv. 0 with a finished session. Else a negative code and @err: when ret->run.pid
 * is 0 the command was not started (DWELL_ERR_REFUSED: the environment names another profiler),
 * else what was collected stays in OUTPUT.partial. *@ret is filled in every case.
 */
int dw_memory(const struct dw_memory_options *options, struct dw_memory_result *ret,
	      struct dw_error *err);
