/*
 * What the probes of a process are taken to cost.
 *
 * The agent measures them in loops, where all that they touch is near and nothing else goes on. In
 * a program they displace what it had in the caches and in the predictors, wait for what it has
 * begun, or hide behind that: more or less by the program and the processor. So where somebody has
 * sampled where the processor was, costs are brought to what the trampolines took there, less what
 * the program does meanwhile: all by one factor, for which the loops speak as a few samples do.
 * Pure functions. [any-thread]
 */
#pragma once

#include "base/map.h"
#include "base/vec.h"
#include "collect/calls/call-values.h"
#include "collect/region/read.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Whose the cost of probes was: functions' times by probes, brought nearer to those by samples.
 *
 * What a probe takes is known in the mean only. Where a function's calls are many and short, its
 * samples know better than that mean; where they are few or long, they do not. Both are weighed by
 * what is uncertain of them. Samples are brought to the sum of the times first, as interrupts and
 * the host take some of all functions' time that is in no sample. As they see nothing of what a
 * function calls without probes or has the kernel do, either, what some get is what others give,
 * who have more than their samples. One process, one thread.
 */

/* A function, sums over all readings, ticks. */
struct dw_fit_row {
	double time;	/* of the program, probes included */
	double cost;	/* of probes in it, by their mean */
	double sampled; /* by samples, of the program alone */
	double moved;	/* so far from its cost to its time; negative: the other way */
	/* of this reading */
	double new_time, new_cost, want;
};

/* Zero-initialised. */
struct dw_fit {
	DW_VEC(struct dw_fit_row) rows;
	struct dw_map of; /* key -> index + 1 */
};

/* A reading: first all of this. */
void dw_fit_begin(struct dw_fit *f);

/* Then each node of @key: its @time, of which probes have @cost. 0 or -ENOMEM. */
int dw_fit_add(struct dw_fit *f, uint64_t key, double time, double cost);

/* Then each sample of @key, which stands for @ticks. 0 or -ENOMEM. */
int dw_fit_sample(struct dw_fit *f, uint64_t key, double ticks);

/* Then find out what moves, where a sample stands for @ticks. */
void dw_fit_solve(struct dw_fit *f, double ticks);

/* What the @cost of a node of @key becomes. */
double dw_fit_cost(const struct dw_fit *f, uint64_t key, double cost);

/* Free everything. */
void dw_fit_release(struct dw_fit *f);

/* In place of a function's key: code without probes, in a module that is known. */
#define DWELL_SAMPLED_EXTERNAL UINT64_MAX

/* Samples of a process's user code, by its time on the processor, since the reading before. */
struct dw_trampoline_samples {
	uint64_t all;		 /* 0 = none were taken */
	uint64_t in_trampolines; /* of these */
	double ticks;		 /* that each stands for */
	const uint64_t *keys;	 /* of the functions with probes that the others were in, or
				    DWELL_SAMPLED_EXTERNAL; borrowed */
	size_t keys_n;
};

/* Ticks. Zero-initialised. */
struct dw_probe_costs {
	struct dw_probe_cost function, external;
	struct dw_probe_cost cell, cell_external; /* the same, of threads that have cells */
	/* All of a statement's probe. What comes before its reading of the clock falls to the
	 * statement that was left: to each about as often as it was come to. */
	double line;
	double scale;  /* of this reading: of the loops' costs */
	double factor; /* of all readings so far */
	uint64_t samples;
	/* its own: by the loops, of readings with samples and of all; by samples; what was given */
	double looped, looped_all, sampled, given;
};

/* Take costs as the agent measures them from @head, which was just read. */
void dw_probe_costs_take(struct dw_probe_costs *c, const struct dw_region_head *head);

/* Bring them to what @now tells of, in whose time they come to @looped as they are. Whether @now
 * counts: it has samples, and enough of them to be all of the process's. */
bool dw_probe_costs_scale(struct dw_probe_costs *c, double looped,
			  const struct dw_trampoline_samples *now);
