/*
 * A sampler behind a small table: target -> model.
 *
 * The recording loop (src/record) starts a backend, polls its descriptors, drains it into the
 * profile and stops it. A backend never writes files and never prints.
 */
#pragma once

#include "base/error.h"
#include "model/measure.h"
#include "model/profile.h"
#include "target/file.h"

#include <poll.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct dw_jit;
struct dw_managed;

/* Whether samples are taken in the kernel, too. */
enum dw_sample_kernel { DWELL_KERNEL_IF_ALLOWED, DWELL_KERNEL_ALWAYS, DWELL_KERNEL_NEVER };

struct dw_backend_config {
	uint32_t frequency_hz; /* samples per second of CPU time */
	uint64_t period;       /* of the event, instead of by the frequency; 0 = not asked for */
	const char *event;     /* its name, NULL = the backend's choice */
	enum dw_sample_kernel kernel;
	bool system_wide;      /* all there is, and not only the command */
	dw_measures beside;    /* what is recorded beside samples, as far as the backend can */
	bool exact_waits;      /* at any price: by records of switches where there are some */
	uint32_t stack_bytes;  /* of stack copied with each sample, 0 = the backend's choice */
	const char *cache_dir; /* for unwind tables, NULL = none */
	/* Code of .NET runtimes; borrowed until free, drained by the caller. NULL = has no names */
	struct dw_managed *managed;
	/* What runtimes write about their code; likewise */
	struct dw_jit *jit;
	pid_t pid;	   /* the launched command, stopped before its exec; 0 = none */
	const pid_t *pids; /* running processes to attach to instead, borrowed */
	size_t pids_n;
	uint64_t start_ns; /* CLOCK_MONOTONIC time that the profile's times count from */
};

struct dw_backend_stats {
	uint64_t samples_kept;
	uint64_t samples_lost;	    /* the kernel had no room for them */
	uint64_t samples_discarded; /* taken while no code of the target ran */
	uint64_t stacks_cut;	    /* kept samples whose outer frames are missing */
	uint64_t records_lost;	    /* lost records other than samples: processes or mappings may be
				       missing */
	uint64_t throttled; /* times the kernel paused sampling because it was too frequent */
	/* Of samples kept: of processes that were gone before their CPU time was read. */
	uint64_t unread_user, unread_kernel;
};

/* What brings a sampler into the target; borrowed from the backend. */
struct dw_backend_agent {
	const char *folder; /* the session's, for regions */
	const char *mode;   /* of its agent, DWELL_ENV_MODE */
};

struct dw_backend; /* each backend's own state */

struct dw_backend_ops {
	const char *name; /* for the session: "perf cpu-clock" etc. is put in facts by start */
	/*
	 * For samplers that run in the target: what must stand before the command is forked, whose
	 * environment @ret_agent is for. @config has neither pid nor start_ns yet. *@ret goes to
	 * start. NULL = the sampler looks from outside.
	 */
	int (*prepare)(const struct dw_backend_config *config, struct dw_profile *profile,
		       struct dw_backend **ret, struct dw_backend_agent *ret_agent,
		       struct dw_error *err);
	/*
	 * Attach to config->pid, which has not executed its command yet, or to config->pids.
	 * Samples go to @profile (borrowed until free). DWELL_ERR_REFUSED with a message that names
	 * cause and cure when the kernel does not allow it; DWELL_ERR_NOT_FOUND when a process is
	 * gone.
	 */
	int (*start)(const struct dw_backend_config *config, struct dw_profile *profile,
		     struct dw_backend **ret, struct dw_error *err);
	/* Descriptors to poll for POLLIN before drain; at most @max are written, the number is
	 * returned. Ask again after each drain: those of ended tasks, which hang up for ever, go.
	 * Poll for no more than some 20 ms, as drain holds the newest records back. */
	size_t (*poll_fds)(struct dw_backend *b, struct pollfd *fds, size_t max);
	/* Take everything that is ready into the profile. @final: the last call, hold nothing back.
	 * 0 or a negative code. */
	int (*drain)(struct dw_backend *b, bool final, struct dw_error *err);
	/* Stop taking samples. What was taken can still be drained. */
	void (*stop)(struct dw_backend *b);
	/* Counters so far. */
	void (*stats)(const struct dw_backend *b, struct dw_backend_stats *ret);
	/* Where the bytes of each module come from, by module id, borrowed until free; *@n =
	 * modules + 1. */
	const struct dw_module_source *(*sources)(struct dw_backend *b, size_t *n);
	/* Release everything. NULL is fine. */
	void (*free)(struct dw_backend *b);
};

extern const struct dw_backend_ops dw_backend_perf;

/* Whether dw_backend_perf can sample commands here: 0, DWELL_ERR_REFUSED with one line that names
 * cause and cure, -errno. */
int dw_perf_check(struct dw_error *err);

/* Of processes that run already, waits alone: where perf is refused. */
extern const struct dw_backend_ops dw_backend_procfs;
extern const struct dw_backend_ops dw_backend_in_process; /* where perf is refused */
