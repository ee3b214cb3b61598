/*
 * Changing code: the module's own, and that of clones.
 *
 * Nothing here is ever writable and executable at once. All inside dw_agent_enter(): signals are
 * blocked. 0 or -errno, and then nothing has changed where dw_text_may_change() said so.
 */
#pragma once

#include "agent/clones/clones.h"

enum { DWELL_JUMP_BYTES = 5 }; /* of a jump that reaches 2 GB */

/* Write a jump to @to as code for @at into @bytes. */
void dw_text_write_jump(uint8_t bytes[static DWELL_JUMP_BYTES], uint64_t at, uint64_t to);

/* Whether the kernel lets code be changed in this process, without changing any: @path is a file
 * whose private mapping is tried, the module's own. */
int dw_text_may_change(const char *path);

/* Whether every patch of @area finds the bytes that it expects in the module. -ESTALE if not. */
int dw_text_check(const struct dw_area *area);

/* Whether @area's module still has its patches: the loader has not mapped another one there. */
bool dw_text_is_patched(const struct dw_area *area);

/* Write all patches of @area. @is_alone: no other task can run this code, nor can a child. */
int dw_text_patch(struct dw_area *area, bool is_alone);

/*
 * Write back what patches have replaced: those of functions with a bit in @functions, as far as
 * they lie in [@first, @end) of the module, which is writable.
 */
void dw_text_restore(const struct dw_area *area, const uint8_t *functions, uint32_t first,
		     uint32_t end);

/* Undo all patches of @area in @copy, which is one of its text. */
void dw_text_undo(const struct dw_area *area, uint8_t *copy);

/* Put the jumps in padding that hops lead to into @copy, one of the module's own text: a task may
 * stand before one. */
void dw_text_keep_landings(const struct dw_area *area, uint8_t *copy);

/*
 * Give the pages of [@at, @at + @bytes) to an anonymous copy that @edit has changed. For other
 * threads all happens at once. @edit may be NULL.
 */
int dw_text_swap(uint64_t at, uint64_t bytes, void (*edit)(void *ctx, uint8_t *copy), void *ctx);

/*
 * The same for the pages of [@at, @at + @bytes) with a bit in @pages, each run of them at once.
 * @edit gets a copy of the range of which only these pages hold what stands there. On failure some
 * may have changed.
 */
int dw_text_swap_pages(uint64_t at, uint64_t bytes, const uint8_t *pages,
		       void (*edit)(void *ctx, uint8_t *copy), void *ctx);

/* As dw_text_swap(), but the copy is shared with children, which makes their forks cheaper, and
 * cannot be written to any more. */
int dw_text_share(uint64_t at, uint64_t bytes, void (*edit)(void *ctx, uint8_t *copy), void *ctx);
