/*
 * A method's body as the runtime and assemblies have it (ECMA-335 II.25.4): a header of one or
 * twelve bytes, code, sections with what catches exceptions. Foreign bytes: every read is
 * bounds-checked. [async-signal-safe] [any-thread]
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Why a method is left as it is. */
enum dw_il_refusal {
	DWELL_IL_OK,
	DWELL_IL_BAD_HEADER,	/* no header, or code beyond the end */
	DWELL_IL_BAD_SECTION,	/* a section beyond the end, or too many clauses */
	DWELL_IL_BAD_OPCODE,	/* no opcode, or cut off */
	DWELL_IL_BAD_BRANCH,	/* to where no instruction begins, or behind a prefix */
	DWELL_IL_BAD_CLAUSE,	/* begins or ends there, or is of no kind that is known */
	DWELL_IL_BAD_TAIL_CALL, /* no call behind tail., or no ret behind that */
	DWELL_IL_TOO_LARGE,	/* code beyond DWELL_IL_CODE_MAX */
	DWELL_IL_NO_ROOM,	/* for the new body or the map */
	DWELL_IL_REFUSALS
};

enum {
	DWELL_IL_CODE_MAX = 1 << 20,
	DWELL_IL_CLAUSES_MAX = 1 << 16,
	DWELL_IL_SMALL_BYTES = 16, /* of code: the runtime's compiler inlines these anyway */
};

/* Borrows the bytes that it was opened with. */
struct dw_il_body {
	const uint8_t *code;
	uint32_t code_bytes;
	uint32_t locals; /* token, 0 = none */
	uint16_t stack_max;
	bool has_init_locals;
	const uint8_t *sections, *end; /* NULL = there are none */
	uint32_t clauses;
};

/* Kinds of clauses. */
enum dw_il_clause_kind {
	DWELL_IL_CATCH = 0,
	DWELL_IL_FILTER = 1,
	DWELL_IL_FINALLY = 2,
	DWELL_IL_FAULT = 4,
};

struct dw_il_clause {
	uint32_t kind;
	uint32_t try_at, try_bytes;
	uint32_t handler_at, handler_bytes;
	uint32_t what; /* token of the class, or where the filter begins */
};

/* Where one is among the clauses of a body; all 0 = at the first. */
struct dw_il_clause_place {
	const uint8_t *section, *at;
	uint32_t left; /* in this section, with the one at @at */
	bool is_fat;
};

/* Read the header of the @n bytes at @bytes and count the clauses. *@ret only when
 * DWELL_IL_OK. */
enum dw_il_refusal dw_il_open(const void *bytes, size_t n, struct dw_il_body *ret);

/* The next clause, in the order of the sections. False: there are no more. */
bool dw_il_clause_next(const struct dw_il_body *body, struct dw_il_clause_place *place,
		       struct dw_il_clause *ret);

/* Whether a method is so small that a probe would measure itself more than the method. */
static inline bool dw_il_is_small(const struct dw_il_body *body)
{
	return body->code_bytes <= DWELL_IL_SMALL_BYTES;
}
