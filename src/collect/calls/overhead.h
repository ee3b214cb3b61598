/*
 * Which calls cost more to measure than they are worth: what `--overhead` switches off.
 *
 * Between two decisions, what the calls of each key took is added up, on both sides: the time that
 * was measured, and what their probes took. When all probes took more than the limit allows, those
 * go first that measured least for it, until what is left takes well less, and with them all that
 * measured next to nothing; a key goes once and for all. Numbers come from a target and may be
 * anything. One thread, one process.
 */
#pragma once

#include "base/map.h"
#include "base/vec.h"

#include <stdbool.h>
#include <stdint.h>

/* The calls of one key: of struct dw_region_disabled. */
struct dw_overhead_calls {
	uint32_t key;
	bool is_disabled;
	/* since the last decision */
	double probes; /* ticks */
	double time;   /* ticks, exclusive */
	/* before */
	double past_probes, past_time;
};

struct dw_overhead {
	double limit; /* probes may take this part of the program's own time */
	DW_VEC(struct dw_overhead_calls) calls;
	struct dw_map index;	       /* key -> place in calls + 1 */
	double time, counted;	       /* of all since the last decision, ticks */
	double past_time, past_probes; /* of all before it */
	double past_counted;
	DW_VEC(uint32_t) disabled; /* keys, in the order of their decisions */
};

/* Note what calls of @key (0 = nobody's that could be disabled) took. 0 or -ENOMEM. */
int dw_overhead_add(struct dw_overhead *o, uint32_t key, double probes, double time);

/* Note that to count calls of what is disabled took @ticks, which were measured as the program's.
 */
void dw_overhead_count(struct dw_overhead *o, double ticks);

/*
 * Decide: what is new stands at the end of o->disabled, of which there are never more than @max.
 * Waits for more while there is too little to decide by, less than @enough ticks.
 */
int dw_overhead_decide(struct dw_overhead *o, double enough, uint32_t max);

/* Whether @key was disabled. */
bool dw_overhead_is_disabled(const struct dw_overhead *o, uint32_t key);

/* Note that @key is disabled already. 0 or -ENOMEM. */
int dw_overhead_inherit(struct dw_overhead *o, uint32_t key);

/* Note that @key was never measured: nobody needs to be told. 0 or -ENOMEM. */
int dw_overhead_leave(struct dw_overhead *o, uint32_t key);

/* Whether calls of @key were measured, are still, and keep the limit by themselves. */
bool dw_overhead_is_worth(const struct dw_overhead *o, uint32_t key);

/* Whether @c, of o->calls, is still measured, and should not be from the start another time. */
bool dw_overhead_is_waste(const struct dw_overhead *o, const struct dw_overhead_calls *c);

/* Free everything. */
void dw_overhead_release(struct dw_overhead *o);
