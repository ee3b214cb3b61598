/*
 * Memory of an interpreter, of this process or another one: copies of pages, made when they are
 * first looked at. What an interpreter that was interrupted points to may be anywhere, and another
 * thread may unmap it at any time. [async-signal-safe] as far as @copy is.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

enum { DWELL_INTERPRETER_PAGES = 64, DWELL_INTERPRETER_PAGE = 4096 };

struct dw_interpreter_copies {
	uint64_t known[DWELL_INTERPRETER_PAGES]; /* by slot: the number of the page copied, 0 = none
						  */
	uint8_t bytes[DWELL_INTERPRETER_PAGES][DWELL_INTERPRETER_PAGE];
};

/* Copy the page at @at of the process @pid. False: it cannot be read. */
typedef bool dw_interpreter_copy_fn(int32_t pid, uint64_t at, uint8_t ret[DWELL_INTERPRETER_PAGE]);

struct dw_interpreter_memory {
	dw_interpreter_copy_fn *copy;
	int32_t pid;
	struct dw_interpreter_copies *copies; /* borrowed */
	uint32_t copied;		      /* pages; beyond a number none is */
};

/* Forget the copies. */
void dw_interpreter_memory_begin(struct dw_interpreter_memory *m);

/* Whether the @bytes at @at, a multiple of 4, can be read. */
bool dw_interpreter_can_read(struct dw_interpreter_memory *m, uint64_t at, uint32_t bytes);

/* The word at @at, a multiple of 8. 0 where nothing can be read. */
uint64_t dw_interpreter_word(struct dw_interpreter_memory *m, uint64_t at);

/* The 32 bits at @at, a multiple of 4, likewise. */
static inline uint32_t dw_interpreter_half(struct dw_interpreter_memory *m, uint64_t at)
{
	return (uint32_t)(dw_interpreter_word(m, at & -(uint64_t)8) >> (at % 8 * 8));
}

/* The word at @at, wherever that is. False: it cannot be read. */
bool dw_interpreter_load(struct dw_interpreter_memory *m, uint64_t at, uint64_t *ret);
