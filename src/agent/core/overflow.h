/*
 * Activations for which the tree has no node, because the memory for it is used up.
 *
 * They are counted by (caller, callee, site, of which of function, module, edge and site they are
 * the outermost): see struct dw_tree_overflow. While one is open, thread->current is the
 * `truncated` child of the last node on the path that the tree has; the shadow entries below which
 * all is so hold the overflow nodes, with odd records, so that no gate touches them. Whether an
 * activation is outermost is told by counters of what is on the path. They are right for one
 * boundary node at a time and go to the next by way of their common ancestor.
 *
 * Costs no system call but where its tables grow. What has no room even here is lost but for the
 * thread's sum, and counted (DWELL_DROP_COUNTS). For the thread itself.
 */
#pragma once

#include "agent/core/stacks.h"
#include "wire/call-tree.h"

#include <stdbool.h>
#include <stdint.h>

/* What an interval between two events was. */
struct dw_interval {
	uint64_t elapsed;			   /* ticks; slow paths taken off */
	uint64_t os, os_probe, os_cpu, os_blocked; /* as in struct dw_tree_os */
	uint32_t switches, io_calls, blocking_calls;
	uint32_t overhead; /* in units */
	enum dw_os_kind os_kind;
};

/* Whether the thread is beyond its tree: each new activation is one for dw_overflow_push(), each
 * interval also one for dw_overflow_charge_plain() and _os(). */
static inline bool dw_overflow_is_current(const struct dw_tree_thread *t)
{
	return t->current->key == DWELL_KEY_TRUNCATED;
}

/* Push an activation of @key, called from the top's at @site, in place of dw_stacks_push(). False:
 * no room, nothing is pushed. */
bool dw_overflow_push(struct dw_stacks *s, uint64_t key, uint32_t site, uint64_t record,
		      bool switches);

/* What was pushed as @node is no longer on the current stack. */
void dw_overflow_pop(struct dw_stacks *s, struct dw_tree_overflow *node);

/* Another stack will be current, or the current one is to be used for something else. */
void dw_overflow_leave_stack(struct dw_stacks *s);

/* Give back everything of a thread. From any thread. */
void dw_overflow_end(struct dw_stacks *s);

/* What thread->current has got already belongs to the activation on top as well: @elapsed ticks and
 * @overhead of an interval without an OS event. */
void dw_overflow_charge_plain(struct dw_stacks *s, uint64_t elapsed, uint32_t overhead);

/* Likewise the operating system's part of an interval. */
void dw_overflow_charge_os(struct dw_stacks *s, const struct dw_interval *interval);
