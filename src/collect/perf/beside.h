/*
 * What perf records beside its samples, each by an event of its own in the ring of these.
 */
#pragma once

#include "model/measure.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct dw_perf_beside {
	enum dw_measure measure; /* that it feeds */
	uint64_t config;	 /* the event, PERF_COUNT_SW_* */
	/* Each time it happens a sample with its stack, which has one of the measure; else it tells
	 * of switches. */
	bool samples;
};

enum { DWELL_PERF_BESIDES_MAX = 8 };

/* The @i-th of them, NULL behind the last. Static. */
const struct dw_perf_beside *dw_perf_beside(size_t i);

/* Whether any that feeds a measure of @set samples. */
bool dw_perf_besides_sample(dw_measures set);
