/*
 * One recording, from launch (or attaching, or a file) to finished session, whatever is collected.
 *
 * Never prints but for warnings (base/error.h): the command shows progress through a callback. The
 * calling thread must be the only one. SIGCHLD, SIGINT, SIGTERM, SIGHUP and SIGQUIT are taken over
 * while something runs and given back after.
 */
#pragma once

#include "base/error.h"
#include "collect/backend.h"
#include "collect/import/import.h"

#include <stdbool.h>
#include <stdint.h>

struct dw_collector_ops;
struct dw_image_plan;
struct dw_instrument_result;

/* Samples; calls of commands, whose modules run from clones with probes; allocations of commands'
 * .NET processes; and what somebody else has recorded, where nothing runs. */
extern const struct dw_collector_ops dw_collector_samples, dw_collector_calls,
	dw_collector_allocations, dw_collector_import;

struct dw_samples_options {
	const struct dw_backend_ops *backend; /* borrowed, static */
	const char *backend_agent; /* the file of its agent, for a backend that has one */
	const char *backend_why;   /* this backend, in words for the session; NULL = none needed */
	const char *clr_agent;	   /* of .NET runtimes, a path; NULL = none is wanted */
	const char *clr_why_not;   /* why none is, for struct dw_record_result */
	struct dw_backend_config config; /* what and how often; the recorder says of whom */
};

struct dw_calls_options {
	const char *agent;     /* path of the object to preload */
	const char *os_source; /* the only one that is tried, NULL = all are */
	double overhead;       /* part of the program's own time that probes may take, 0 = any */
	bool counts;	       /* what is switched off for that is counted */
	uint64_t memory_bytes; /* for the call trees of a process */
	uint64_t nodes_max;    /* of all call trees; processes that begin later are left out */
	uint32_t paths;	       /* nodes of a thread's tree at most */
	const struct dw_image_plan *plan;    /* its session_dir is not used */
	struct dw_instrument_result *result; /* filled in in every case: record/instrument.h */
};

struct dw_allocations_options {
	const char *agent;     /* absolute path of the runtime's agent */
	uint64_t memory_bytes; /* for the tables of a process */
	uint64_t sample_bytes; /* draw one object in so many bytes, 0 = record all */
	bool without_lifetime;
	bool collects_at_end; /* a last collection when a runtime ends */
	bool without_stacks;
	bool has_natives;      /* which native functions lie between managed ones */
	uint32_t check;	       /* compare one stack in so many with the runtime's, 0 = none */
	bool has_oracle;       /* compare generations and the heap with the runtime's */
	bool without_children; /* .NET programs that .NET programs start run as they are */
};

/* How a running recording stands, a few times a second. */
struct dw_record_progress {
	uint64_t elapsed_ns;
	struct dw_backend_stats stats; /* of samples */
};

struct dw_record_options {
	const struct dw_collector_ops *collector;
	char *const *argv; /* the command, NULL-terminated; NULL = pids, or all there is */
	const pid_t *pids; /* running processes to attach to, borrowed */
	size_t pids_n;
	const char *output; /* path of the finished session; NULL = none is made, calls are counted
			       alone */
	const char *fallback;	/* folder for files of agents where /dev/shm refuses */
	const char *cache_dir;	/* for what later recordings have use for, NULL = none */
	uint64_t duration_ns;	/* stop recording after this, 0 = when the command ends */
	bool wait_all;		/* go on until all descendants have ended that are recorded */
	bool without_code;	/* leave machine code out of the session */
	bool with_source;	/* put the text of source files into it */
	uint32_t debuginfod_ms; /* ask servers for debug information, so long; 0 = no */
	void (*progress)(void *ctx, const struct dw_record_progress *p); /* may be NULL */
	void *progress_ctx;
	/* The collector's part. */
	struct dw_samples_options samples;
	struct dw_calls_options calls;
	struct dw_allocations_options allocations;
	struct dw_import_config import; /* but for cache_dir */
};

struct dw_import_result {
	bool is_cut;		 /* the file ends before its end */
	bool is_kernel_nameless; /* it does not say which kernel its samples are of */
	char *left_out; /* names of events whose samples were not taken, NULL = none. The caller
			   frees it */
};

enum { DWELL_RECORD_WORDS = 256 };

struct dw_record_result {
	pid_t pid;	 /* of the command or the first process, 0 = it was never started */
	bool ended;	 /* the command, or all processes, or the file, have ended */
	int wait_status; /* of the command, as waitpid() gives it, when ended */
	int exec_error;	 /* not 0: the command could not be executed, with this code */
	int stop_signal; /* the signal that ended the recording, 0 = none */
	char nameless[DWELL_RECORD_WORDS]; /* why code of .NET runtimes has no names, "" = it has */
	struct dw_import_result import;
};

/*
 * Record into @options->output. 0 with a finished session. Else a negative code and @err: when
 * ret->pid is 0 the command was not started, nothing attached to, or nothing imported, and there is
 * no session, else what was collected stays in OUTPUT.partial. *@ret is filled in every case.
 */
int dw_record(const struct dw_record_options *options, struct dw_record_result *ret,
	      struct dw_error *err);

/* What takes samples. */
enum dw_sampler_kind {
	DWELL_SAMPLER_AUTO, /* perf where it is allowed */
	DWELL_SAMPLER_PERF,
	DWELL_SAMPLER_IN_PROCESS, /* an agent in the target, where the kernel refuses perf */
	DWELL_SAMPLER_PROCFS,	  /* of processes that run already, waits alone */
};

struct dw_sampler_choice {
	const struct dw_backend_ops *backend;
	struct dw_error refusal; /* why it is not perf, and what would open that; code 0 = it is */
};

/*
 * Choose the sampler for the command @name (NULL = programs that run) as @wish says. @waits_do: of
 * programs that run, waits alone are worth recording. 0; DWELL_ERR_REFUSED: it is to be sampled
 * in-process, but can take no agent. dw_sampler_choice_release() in any case.
 */
int dw_sampler_choose(enum dw_sampler_kind wish, const char *name, bool waits_do,
		      struct dw_sampler_choice *ret, struct dw_error *err);

/* Free the words. */
void dw_sampler_choice_release(struct dw_sampler_choice *c);

/* Wait for a command that outlived its recording. SIGINT, SIGTERM and SIGHUP are passed to it. Its
 * wait status, or DWELL_ERR_NOT_FOUND: nobody knows how it ended. */
int dw_record_wait(pid_t pid);
