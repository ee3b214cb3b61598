/*
 * The door of the calls' room: what an event of the calling thread does to its stacks, its tree and
 * its clocks, whoever reports it.
 *
 * Who reports enters a slow path (dw_slow_begin()), begins the event, says what has come about, and
 * ends it. The interval that has ended goes to the node that is current; what is spent between
 * begin and end belongs to nobody and is only counted. Meanwhile the thread's word leads to a line
 * without room, so that the probes of a handler go the slow way, too.
 */
#pragma once

#include "agent/calls/threads.h"
#include "agent/core/slow.h"

#include <stdbool.h>
#include <stdint.h>

struct dw_event {
	struct dw_thread *t;
	uint64_t now;	     /* TSC: the end of the interval */
	uint64_t start;	     /* when the slow path began */
	uint64_t skid;	     /* ticks by which what stands before the probe was done late */
	bool has_skid;	     /* its reading of the clock was the first of two: @skid is known */
	bool is_system_call; /* a side of a counted one */
	bool may_wait;	     /* what follows may take long */
};

/* What begins. */
struct dw_callee {
	uint64_t key;
	uint64_t record;    /* of the shadow stack */
	uint32_t slowest_n; /* single calls that are kept */
	bool switches;	    /* it goes on on another stack */
};

/*
 * Begin @e, whose thread, time and flags are set: charge what ends now. @read is the time that the
 * probe has compared, 0 = none: then that is when the interval ends.
 */
void dw_event_begin(struct dw_event *e, uint64_t read);

/* End it: the next interval begins. */
void dw_event_end(struct dw_event *e);

/* The calling thread, which begins if it is new, for an event at @sp whose record is @record. NULL:
 * it counts for none. */
struct dw_thread *dw_event_thread(uint64_t sp, uint64_t record);

/* Run @run with @event in a slow path on the thread's own stack, which it has got meanwhile if it
 * @is_new. */
static inline void dw_event_run(bool is_new, void (*run)(void *event), void *event)
{
	if (is_new)
		dw_own_stack_call(run, event);
	else
		run(event);
}

/* Let the stack be that of @e, if it is this thread's: what follows of another task that uses its
 * memory is dropped before anything is charged. */
enum dw_fit dw_event_fit(const struct dw_event *e, enum dw_stack_event what, uint64_t record);

/* The node of @key and @site below what is current. NULL = there is no room. */
struct dw_tree_node *dw_event_find(const struct dw_event *e, uint64_t key, uint32_t site);

/* Begin @callee, whose node is @node. NULL is counted as lost. After dw_event_fit(). */
void dw_event_push(const struct dw_event *e, struct dw_tree_node *node,
		   const struct dw_callee *callee);

/* End what the event @what at @record ends, if there is such a thing. */
void dw_event_pop(const struct dw_event *e, enum dw_stack_event what, uint64_t record);

/* The call on top was none, since its callee has probes of its own: what it counted is its
 * caller's, and its node a mark. */
void dw_event_take_back(const struct dw_event *e);

/* Let the activation on top be at the statement of @key, whose node hangs below its own. */
void dw_event_come_to_line(const struct dw_event *e, uint64_t key);

/* The last event of a thread: all that is open ends. Neither begun nor ended. */
void dw_event_close(struct dw_event *e);

/* Get ready to measure as @mode says (DWELL_ENV_MODE). False: there is no memory. Before any event.
 */
bool dw_calls_start(const char *mode);

/* The first of @n keys of call trees that nobody else has, as the next. [any-thread] */
uint32_t dw_calls_take_keys(uint32_t n);

/* The process is measured from now on. */
void dw_calls_begin(void);

/* The process ends now. Other threads may have ended before. */
void dw_calls_end(void);
