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
#pragma once

#include "base/map.h"
#include "base/vec.h"

#include <stddef.h>
#include <stdint.h>

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
