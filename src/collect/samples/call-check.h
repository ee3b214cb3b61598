/*
 * Whether a return address belongs to a call that leads to a function: what is left to ask of a
 * word that was read from a stack when its thread may have gone on.
 *
 * Code is read from the process. A call is looked for before the address; where it leads is
 * followed through stubs and functions that end in a jump.
 */
#pragma once

#include "unwind/unwind.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum dw_call_check {
	DWELL_CALL_UNKNOWN, /* nothing was asked yet */
	DWELL_CALL_OTHER,   /* there is no call, or it leads elsewhere */
	DWELL_CALL_ANY,	    /* a call or jump through a pointer: it may lead there */
	DWELL_CALL_LEADS,
};

/* What was found out lately. Zero-initialised; for one thread. */
struct dw_call_checks {
	struct dw_call_checked {
		pid_t pid;
		uint64_t to, from;
		const struct dw_cfi_table *of; /* of the function's module */
		enum dw_call_check found;
	} known[64];
};

/*
 * How the call that returns to @from in process @pid, whose code is mapped as @space says, leads to
 * the function around @to. Functions are told by unwind tables; where there is none, the answer
 * goes by the call alone.
 */
enum dw_call_check dw_call_check(struct dw_call_checks *c, pid_t pid, struct dw_space *space,
				 uint64_t from, uint64_t to);

/*
 * Whether the *@n frames of one stack, innermost first, may stand when what lies above the address
 * @gap was read later than what is below: calls lead from one to the next across the gap and some
 * frames on. A call through a pointer counts if its caller has one in turn, or is where the stack
 * begins (@is_whole: the last frame is). False: *@n is now how many may, and the rest is missing.
 */
bool dw_calls_lead(struct dw_call_checks *c, pid_t pid, struct dw_space *space,
		   const struct dw_unwind_frame *frames, size_t *n, bool is_whole, uint64_t gap);
