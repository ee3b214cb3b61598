/*
 * What is measured: one row a measure, from which columns, cells, shares and headers follow.
 *
 * To add one that stands beside samples: its row at the end, for sessions have these numbers; its
 * columns (view/column.h, of SQL session/amount-table.c); who measures it. Of calls and objects:
 * also that they have it, and whether few rows have it or others tell it (amounts.c).
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct dw_profile;

enum dw_measure {
	DWELL_MEASURE_NONE = 0, /* a column that tells about its row, not what was measured */
	DWELL_MEASURE_SAMPLES,
	DWELL_MEASURE_BLOCKED,
	DWELL_MEASURE_CALLS,
	DWELL_MEASURE_OUTER_CALLS, /* outermost activations, by which inclusive means divide */
	DWELL_MEASURE_COUNTED,	   /* of the calls: those that were only counted, */
	DWELL_MEASURE_MEASURED,	   /* and the others */
	DWELL_MEASURE_OVERHEAD,
	DWELL_MEASURE_ELAPSED,
	DWELL_MEASURE_APPLICATION,
	DWELL_MEASURE_DELIMITED, /* the same by the classic rule: only probes end intervals */
	/* Without waits that do not count (model/wait.h); of samples of time, and waits beside
	 * them, the sum of both. */
	DWELL_MEASURE_WORK,
	DWELL_MEASURE_OS_CPU, /* in system calls that count */
	DWELL_MEASURE_SWITCHES,
	DWELL_MEASURE_IO_CALLS,
	DWELL_MEASURE_BLOCKING_CALLS,
	DWELL_MEASURE_OBJECTS,
	/* What became of objects: the heaps in which they died in the order of enum dw_generation,
	 * then those alive at the end, and of a range of time at its beginning, and how many of
	 * these at least and at most survived it. */
	DWELL_MEASURE_OBJECTS_GEN0,
	DWELL_MEASURE_OBJECTS_GEN1,
	DWELL_MEASURE_OBJECTS_GEN2,
	DWELL_MEASURE_OBJECTS_LARGE,
	DWELL_MEASURE_OBJECTS_PINNED,
	DWELL_MEASURE_OBJECTS_ALIVE,
	DWELL_MEASURE_OBJECTS_BEFORE,
	DWELL_MEASURE_OBJECTS_LEAST,
	DWELL_MEASURE_OBJECTS_MOST,
	/* The same of their bytes. */
	DWELL_MEASURE_BYTES,
	DWELL_MEASURE_BYTES_GEN0,
	DWELL_MEASURE_BYTES_GEN1,
	DWELL_MEASURE_BYTES_GEN2,
	DWELL_MEASURE_BYTES_LARGE,
	DWELL_MEASURE_BYTES_PINNED,
	DWELL_MEASURE_BYTES_ALIVE,
	DWELL_MEASURE_BYTES_BEFORE,
	DWELL_MEASURE_BYTES_LEAST,
	DWELL_MEASURE_BYTES_MOST,
	DWELL_MEASURE_DRAWS, /* objects drawn at random, from which all others are estimated */
	/* Of samples of time: each divided by the threads that ran then. Rows have it where it is
	 * asked for (analysis/latency.h). */
	DWELL_MEASURE_LATENCY,
	/* Beside samples, as BLOCKED is. */
	DWELL_MEASURE_OTHERS_WAITED, /* for locks that the thread of the row had */
	DWELL_MEASURES,
};

#define DWELL_MEASURES_MAX 64u

_Static_assert(DWELL_MEASURES <= DWELL_MEASURES_MAX, "a set of measures is a word");

/* A set of measures: bit 1 << enum dw_measure. */
typedef uint64_t dw_measures;

/* Whether @measure is in @set. */
static inline bool dw_measures_has(dw_measures set, enum dw_measure measure)
{
	return set >> measure & 1;
}

/* The measures that @p was recorded with, those of which it has only zeros too. */
dw_measures dw_profile_measures(const struct dw_profile *p);

/* Note that @p is recorded with @measure beside samples: who measures it tells. 0 or -ENOMEM. */
int dw_profile_measures_add(struct dw_profile *p, enum dw_measure measure);

/* Whether samples of @event, as perf calls it, are taken by time, so that a rate makes them time.
 */
bool dw_event_is_of_time(const char *event);

/* How much time a sample of @p stands for. 0 = it is not one of time. */
double dw_sample_ns(const struct dw_profile *p);

/* The one of @set by which rows come first. */
enum dw_measure dw_measures_lead(dw_measures set);
