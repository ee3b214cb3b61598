/*
 * Which waits are those of threads that have nothing to do, by what the threads do all the time.
 *
 * Nobody tells a worker that waits for its next piece of work from one that waits for a result it
 * needs. What tells is where a thread is most of its time, that it never went on, and the names of
 * threads that runtimes have for their own purposes.
 */
#pragma once

#include "model/profile.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* How long a thread waited at a place, a number that is its own. */
struct dw_wait_at {
	uint32_t thread, place;
	enum dw_wait_kind kind;
	uint64_t ns;
	bool is_ready; /* of a call, what the system says was for a processor, whatever its kind */
	bool is_external; /* of a call, with none of the thread's functions open */
	bool is_pooled;	  /* of a call, by a thread of .NET's pool */
};

/*
 * Of @n waits at @v, those of threads of a pool become idle at the place where such a thread waits
 * most for a condition, unless it waits longer in an event loop; those of .NET's pool where none of
 * its functions is open. 0 or -ENOMEM.
 */
int dw_find_idle_threads(const struct dw_profile *p, struct dw_wait_at *v, size_t n);

/*
 * Of the waits @v, one for each of @p's extras, those become idle that never ended: threads which
 * waited without a break for nearly all of the recording, but for a lock. Of a process's first
 * thread only if it waits for others of its process. 0 or -ENOMEM.
 */
int dw_find_parked_threads(const struct dw_profile *p, struct dw_wait_at *v);
