/*
 * What a personality routine would do, of a module's function or of its clone: the verifier's own
 * reader of LSDAs.
 *
 * It answers for one address at a time, in the way personality routines look things up. Bytes may
 * be hostile. One thread.
 */
#pragma once

#include "clone/verify/state.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The tables of one function. */
struct dw_verify_lsda {
	const struct dw_verify *v;
	uint64_t start; /* svma of the function, in the module or in the area */
	uint64_t pads;	/* svma that landing pads count from */
	uint8_t type_encoding;
	uint64_t types;
	uint8_t site_encoding;
	uint64_t sites; /* svma */
	uint64_t actions;
	uint64_t next; /* svma of the first call site that was not yet passed */
};

/* A call site. */
struct dw_verify_site {
	uint64_t start; /* svma */
	uint64_t end;
	uint64_t pad;	 /* 0 = none */
	uint64_t action; /* svma of the first action's record, 0 = none */
};

/* Read the head of the tables at @svma for the function at @start. False: not understood. */
bool dw_verify_lsda_open(const struct dw_verify *v, uint64_t svma, uint64_t start,
			 struct dw_verify_lsda *ret);

/* Read the next call site that has an address in it. False: there are no more. */
bool dw_verify_lsda_next(struct dw_verify_lsda *l, struct dw_verify_site *ret);

/* Whether the chains of actions from @a of @la and @b of @lb on ask for the same types. */
bool dw_verify_same_actions(const struct dw_verify_lsda *la, uint64_t a,
			    const struct dw_verify_lsda *lb, uint64_t b);
