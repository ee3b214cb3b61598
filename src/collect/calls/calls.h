/*
 * From the trees in a region to the calls of a profile: copies, checked, then differences.
 *
 * One reader for each region. Each reading adds to a slice what has come since the one before. An
 * activation that is still running is charged up to the moment of the reading: with application
 * time as far as its thread is known to have run, with blocked time where it waits; what it turns
 * out to have had less is taken off the following slices. What a hostile target writes gives odd
 * numbers, never a bad index: lines that break the rules of wire/call-tree.h are dropped and
 * counted. One thread.
 */
#pragma once

#include "base/error.h"
#include "collect/calls/clock.h"
#include "collect/calls/probe-costs.h"
#include "collect/region/read.h"
#include "model/profile.h"

#include <stdbool.h>
#include <stdint.h>

struct dw_region_calls;

/* Where a call was made. */
struct dw_region_site {
	uint32_t frame;	      /* 0 = not known */
	uint32_t trampolines; /* that stand around the call, also where it leads to a function with
			   probes and they let it pass: OUT and RETURN, or RETURN alone */
};

/* How the reader learns what keys and sites mean. */
struct dw_region_names {
	/*
	 * The callee @key names, which is a function, an import or an address: the frame of its
	 * first instruction, 0 = nothing is known of it, and whether its code has no probes. 0 or
	 * -ENOMEM.
	 */
	int (*callee)(void *ctx, uint64_t key, uint32_t *entry, bool *is_external);
	/* The call by @caller, a key too, at the site @low of struct dw_tree_node. 0 or -ENOMEM. */
	int (*site)(void *ctx, uint64_t caller, uint32_t low, bool is_return,
		    struct dw_region_site *ret);
	void *ctx;
};

/* What calls of @key from @site (struct dw_tree_node) took since the reading before. */
struct dw_call_cost {
	uint64_t key; /* of root nodes and their like, too */
	uint32_t site;
	double probes;	/* ticks, of the callee's and the caller's side, and of their slow paths */
	double pass;	/* ticks of trampolines around the call that let it pass */
	double time;	/* ticks of their own on the processor, probes taken off */
	double counted; /* ticks of counting what is measured no more, all of it: key 0 */
};

/* One reading. */
struct dw_region_reading {
	const struct dw_region_head *head; /* just read */
	const struct dw_region_clock *clock;
	uint64_t until; /* TSC up to which activations that are open are charged; 0 = as far as
			   their threads' last events; then */
	uint64_t waits_until; /* likewise of those in a system call, which cannot have had others */
	uint32_t slice;
	bool is_last; /* close all threads */
	struct dw_trampoline_samples samples;
	/*
	 * The processor time of the thread @tid so far, 0 = not known. False: it has ended. NULL =
	 * nobody can tell. Threads that have ended are charged no further.
	 */
	bool (*thread_cpu)(void *ctx, int32_t tid, uint64_t *ret_ns);
	/* Is told what calls took, path by path. False: if trampolines let them pass, these are
	 * gone now. NULL = nobody wants to know. */
	bool (*cost)(void *ctx, const struct dw_call_cost *cost);
	/* Is told that the profile has many nodes or deltas: may write and forget them. NULL = they
	 * stay. */
	void (*full)(void *ctx);
	void *ctx;
};

/* Sums over a region so far. */
struct dw_region_calls_stats {
	struct dw_call_values sum; /* exclusive, of all nodes of the trees */
	uint64_t lifetime_ns;	   /* of all threads */
	uint64_t cpu_ns;	   /* of all threads, as far as their clocks were read */
	uint64_t uncovered_ns;	   /* probe cost that nodes had no time to cover */
	uint64_t slow_ns;	   /* of the overhead: in slow paths */
	uint64_t nodes;
	uint64_t cells;
	uint64_t drawn;		    /* moments at which a path was found */
	uint64_t cell_calls;	    /* calls that they have: their paths are not known */
	uint64_t cell_calls_of_any; /* of these, whose callers are not known either */
	uint64_t drawn_lost;	    /* those whose path had no room */
	uint64_t counted;	    /* calls of what is measured no more */
	uint64_t extremes_lost; /* callees in a thread of whose single activations nothing is known
				 */
	uint64_t io_lost;	/* reads and writes that are in no row of a file */
	uint64_t broken;	/* lines that make no sense */
	uint64_t lookups, repairs, stacks;
	uint64_t arena_bytes;
	uint64_t trampoline_samples;  /* by which costs of probes were found */
	uint64_t looped_ns, given_ns; /* what probes came to: as they cost in loops; as found */
	/* what a call of a function, one out, and trampolines that let one pass were taken to cost
	 * in the mean: picoseconds */
	uint64_t function_ps, external_ps, pass_ps;
};

/* A reader for the process @process of @p (borrowed). 0 or -ENOMEM. */
int dw_region_calls_new(struct dw_profile *p, uint32_t process, const struct dw_region_names *names,
			struct dw_region_calls **ret);

/* Read no region that has more than an agent takes whose trees may have @bytes: what is kept of its
 * lines is a multiple of them. */
void dw_region_calls_limit(struct dw_region_calls *r, uint64_t bytes);

/*
 * Read the region @fd and add what is new: threads, nodes, and the slice's deltas. 0;
 * DWELL_ERR_FORMAT and DWELL_ERR_LIMIT (see dw_arena_read(); the profile stays good); -ENOMEM;
 * -errno.
 */
int dw_region_calls_read(struct dw_region_calls *r, int fd, const struct dw_region_reading *now);

/* Sums of what was read, borrowed. */
const struct dw_region_calls_stats *dw_region_calls_stats(const struct dw_region_calls *r);

/* Free everything. NULL is fine. */
void dw_region_calls_free(struct dw_region_calls *r);
