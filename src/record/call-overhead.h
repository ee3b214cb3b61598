/*
 * Keeping the overhead of one process's probes under a limit: `--overhead`.
 *
 * After each reading of its trees the decision (collect/calls/overhead.h) is made anew, told to
 * the agent by struct dw_region_disabled, and noted in the profile. Calls through pointers are
 * decided about by the function that makes them: to their callees one would have to listen first.
 * What is decided goes into the images' caches (record/disabled-cache.h), too: by them the
 * agent disables probes from the start when it gets an image. One thread.
 */
#pragma once

#include "base/map.h"
#include "collect/calls/overhead.h"
#include "collect/region/regions.h"
#include "record/call-names.h"

#include <stdbool.h>
#include <stdint.h>

struct dw_call_overhead {
	struct dw_overhead decision;
	struct dw_call_names *names; /* borrowed */
	uint32_t process;
	uint64_t begin_ns; /* of the process */
	DW_VEC(struct dw_call_predisabled) predisabled;
	struct dw_map begun;	    /* first ids of modules with predisabled probes -> 1 */
	struct dw_map disable_keys; /* site -> key of the calls through a pointer there */
	struct dw_pairs seen;	    /* callee and key: in callees */
	DW_VEC(struct dw_call_callee) callees;
	uint32_t serial, ended; /* as the region has them */
	uint32_t ended_before;	/* with the serial before */
	uint32_t waits;		/* decisions put off, since the agent has not done the last */
	uint32_t error;		/* errno: it cannot be done */
	bool is_open;
};

/* A module of the process with probes that are disabled from the start. */
struct dw_call_predisabled {
	uint32_t module;		     /* index in the region */
	const struct dw_module_image *image; /* borrowed */
};

/* A callee that some function calls through pointers. */
struct dw_call_callee {
	uint32_t disable_key; /* key of struct dw_region_disabled */
	uint64_t key;
};

/* Begin for @process, which began @begin_ns after the recording, whose keys and sites @names
 * (borrowed) knows. @limit: probes may take this part of the program's own time, 0 = as much as
 * they like. */
void dw_call_overhead_init(struct dw_call_overhead *o, double limit, struct dw_call_names *names,
			   uint32_t process, uint64_t begin_ns);

/* Tell the process that asks @q in @regions which probes are disabled from the start in the module
 * that gets @image, before it is answered. 0 or a negative code: all is measured. */
int dw_call_overhead_predisable(struct dw_call_overhead *o, struct dw_regions *regions,
				const struct dw_region_question *q,
				const struct dw_module_image *image);

/* Note what calls took. False: trampolines that let them pass are gone. Without memory nothing more
 * is decided. */
bool dw_call_overhead_add(struct dw_call_overhead *o, const struct dw_call_cost *cost);

/*
 * Decide by what was added, for the region @fd with @head, @now_ns after the start of the
 * recording, where a millisecond has @ticks. 0 or negative: the region cannot be written.
 */
int dw_call_overhead_decide(struct dw_call_overhead *o, int fd, const struct dw_region_head *head,
			    uint64_t now_ns, double ticks);

/* The process has ended: forget what was measured again, if it was worth it, and remember what was
 * found out too late. */
void dw_call_overhead_end(struct dw_call_overhead *o);

/* How many of the keys that were decided about had not lost all of their probes by @head. */
uint32_t dw_call_overhead_pending(const struct dw_call_overhead *o,
				  const struct dw_region_head *head);

/* Free everything. */
void dw_call_overhead_release(struct dw_call_overhead *o);
