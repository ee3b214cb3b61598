/*
 * The aggregator of one thread's waits: what is known of each becomes rows of the profile.
 *
 * A wait whose stack was seen is told as it was. Waits that nobody saw are told by those of their
 * time that were: looks come at irregular times, so that a wait of length d is seen with the
 * probability d / (time between looks), and each one seen that is shorter than this time speaks for
 * the rest of it.
 *
 * What a thread was ready for without a processor is told beside, as a wait of kind READY without a
 * stack. Where it is known who had the lock that was waited for, a row of OTHERS_WAITED says so:
 * with the holder's stack of when somebody looked, or of one long wait without, for what the holder
 * did in its time tells better (analysis/lock-holders.h). One thread.
 */
#pragma once

#include "model/profile.h"

#include <stdbool.h>
#include <stdint.h>

enum { DWELL_WAIT_STACKS = 8 };

/* Who has what a thread waits for, and where it was meanwhile. */
struct dw_wait_holder {
	uint32_t thread; /* in the profile, 0 = nobody knows */
	uint32_t stack;	 /* 0 = it ran */
};

/* Where a thread waits, and for what. */
struct dw_wait_place {
	uint32_t stack;
	uint32_t kind; /* enum dw_wait_kind */
	struct dw_wait_holder holder;
};

/* A row of waits, not in the profile yet. */
struct dw_wait_row {
	struct dw_extra wait; /* span 0 = none */
	struct dw_wait_holder holder;
};

/* A place that speaks for waits that nobody saw. */
struct dw_wait_share {
	struct dw_wait_place place;
	uint64_t ns;
};

struct dw_wait_shares {
	struct dw_wait_share v[DWELL_WAIT_STACKS];
	unsigned n;
};

struct dw_wait_aggregator {
	struct dw_wait_row row;
	struct dw_wait_row ready; /* of the time without a processor */
	uint64_t woken_ns;  /* to be taken off waits that come: earlier ones were told too soon */
	uint64_t unseen_ns; /* of waits that nobody saw */
	uint64_t unseen_begin_ns, unseen_end_ns;
	struct dw_wait_shares before, now; /* those that spoke last time, and those since */
	uint64_t nameless_ns;		   /* told with no stack so far */
};

/* The thread waited as @w says. 0 or -ENOMEM. */
int dw_wait_aggregator_seen(struct dw_wait_aggregator *b, struct dw_profile *p,
			    const struct dw_wait_row *w);

/* Somebody who looks every @look_ns has seen a wait of @ns at @place. */
void dw_wait_aggregator_note(struct dw_wait_aggregator *b, struct dw_wait_place place, uint64_t ns,
			     uint64_t look_ns);

/* The thread waited from @begin_ns to @end_ns, and nobody saw where. */
void dw_wait_aggregator_unseen(struct dw_wait_aggregator *b, uint64_t begin_ns, uint64_t end_ns);

/* @thread was ready, but had no processor, for @ns between @begin_ns and @end_ns. @woken_ns: so
 * much of it at the end of waits, which are as much shorter: those that are not told yet, or the
 * next. 0 or -ENOMEM. */
int dw_wait_aggregator_ready(struct dw_wait_aggregator *b, struct dw_profile *p, uint32_t thread,
			     uint64_t begin_ns, uint64_t end_ns, uint64_t ns, uint64_t woken_ns);

/* Tell what is old enough at @now_ns, or with @final everything. 0 or -ENOMEM. */
int dw_wait_aggregator_flush(struct dw_wait_aggregator *b, struct dw_profile *p, uint32_t thread,
			     uint64_t now_ns, bool final);
