/*
 * Following a recording that goes on: newer states of its session are loaded beside the one that is
 * shown, by a thread of their own, and with them what is seen at the moment is computed; then one
 * takes the place of the other. What that takes decides how often it is done.
 *
 * It belongs to a reading (reading.h), whose thread it is of.
 */
#pragma once

#include "model/profile.h"
#include "analysis/compute.h"
#include "analysis/selection.h"
#include "tui/worker.h"

#include <stdbool.h>
#include <stdint.h>

enum dw_recording_news {
	DWELL_NEWS_NONE = 0,
	DWELL_NEWS_WRITTEN, /* something was written, or the recording has ended */
	DWELL_NEWS_LEFT,    /* nobody writes it any more, since this look */
};

/* Zero-initialised: there is nothing to follow. */
struct dw_follow {
	struct dw_worker worker;
	struct dw_job *job; /* that it does, NULL = none */
	bool is_outdated;   /* what that loads is older than what is shown */
	bool is_frozen;	    /* nothing new is to be shown */
	bool has_failed;    /* what could not be loaded was told */
	enum dw_recording_state state;
	uint64_t window_ns;	 /* the last part is shown alone, 0 = what was chosen is */
	uint64_t due_ns;	 /* when to look again, by CLOCK_MONOTONIC */
	uint64_t spent_ns;	 /* on what is loaded now */
	uint64_t from_ns, to_ns; /* for which it is loaded */
	bool has_next;		 /* this is loaded, and not shown yet: */
	struct dw_profile next;
	enum dw_recording_state next_state;
	struct dw_selection *selection; /* of next, a reference, NULL = not found yet, */
	struct dw_selection *made_of;	/* as this is of what is shown, likewise */
	struct dw_totals_store totals;	/* of next */
};
