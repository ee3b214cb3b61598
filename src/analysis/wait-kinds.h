/*
 * What threads wait for, as far as it shows in a whole profile: by the names of the functions that
 * wait, and by what a thread does the rest of its time.
 */
#pragma once

#include "model/profile.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Complete what is known of the waits of @p, a profile that was loaded with its symbols and not
 * changed since: where those were who had a lock (lock-holders.h), and kinds. Futexes are locks,
 * ends of threads or conditions by the functions of the C library or a runtime above them, and the
 * condition that a thread of a pool waits for most is where it is idle. Waits that were recorded
 * without a kind get one by their functions alone. To do so again changes nothing. 0 or -ENOMEM.
 */
int dw_complete_waits(struct dw_profile *p);

/* Names of functions as kinds of waiting: each is looked at once. */
struct dw_wait_namer {
	const struct dw_profile *profile; /* borrowed */
	uint8_t *code_of;		  /* by module id: enum dw_wait_names, and more */
	/* By function id, for each enum dw_wait_names: what its name says, once somebody has asked.
	 */
	uint8_t *says[DWELL_NAMES];
};

/* Begin with @p. 0 or -ENOMEM, to be released in either case. */
int dw_wait_namer_init(struct dw_wait_namer *n, const struct dw_profile *p);

/* What a thread waits for in the call node @id, by it and its callers: DWELL_WAIT_OTHER if these do
 * not tell. */
enum dw_wait_kind dw_wait_kind_of_node(struct dw_wait_namer *n, uint32_t id);

/* Whether @frame is in a module of the system. */
bool dw_wait_frame_is_system(const struct dw_wait_namer *n, uint32_t frame);

/* The innermost function of @stack, or of the call node @node, that is not the system's; where all
 * are, the outermost of its last part. 0 = none is known. */
uint32_t dw_waiting_function(const struct dw_wait_namer *n, uint32_t stack, uint32_t node);

/* Free everything. */
void dw_wait_namer_release(struct dw_wait_namer *n);
