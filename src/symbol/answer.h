/*
 * What a helper found out about the addresses of one module, and its form on the pipe.
 *
 * A helper reads hostile debug information, so its words are foreign bytes: decoding checks every
 * count and index. Ids in an answer are its own: strings in @strings, functions from 1 up.
 */
#pragma once

#include "base/buf.h"
#include "base/strings.h"
#include "model/symbol.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	DWELL_ANSWER_CHAIN_MAX = 256,	     /* functions at one address */
	DWELL_ANSWER_NAME_MAX_BYTES = 16384, /* a longer name is cut */
};

/* The first instruction of a statement. */
struct dw_statement {
	uint64_t svma;
	uint64_t line; /* equal = the same line of the source */
};

struct dw_answer {
	struct dw_strings strings;
	DW_VEC(struct dw_function) functions;	/* index 0 unused; module is not set */
	DW_VEC(struct dw_location) rows;	/* function 0 = an address without a symbol */
	DW_VEC(uint32_t) first;			/* addresses + 1 entries */
	DW_VEC(struct dw_statement) statements; /* rising svmas; where they were asked for */
	bool has_debug; /* where that was asked for; else: a separate debug file, and all that it
			   refers to, said it */
};

/* Append @a in its form on the pipe to @to. 0 or -ENOMEM. */
int dw_answer_encode(const struct dw_answer *a, struct dw_buf *to);

/*
 * Fill the empty @a from @n bytes that must speak of @addresses addresses. Returns 0;
 * DWELL_ERR_FORMAT; -ENOMEM. Release @a in any case.
 */
int dw_answer_decode(const void *bytes, size_t n, size_t addresses, struct dw_answer *a);

/* Free everything. */
void dw_answer_release(struct dw_answer *a);
