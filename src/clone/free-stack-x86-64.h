/*
 * Whether the stack below rsp is free in the middle of a function, where gates for system calls and
 * statements are called: other than at entries and calls it may be in use.
 *
 * It is free where the function has no operand below rsp, none below rbp unless it calls others
 * (then compilers keep nothing below rsp), is no part of another function, is not jumped into by
 * others, and its unwind rules find no register below rsp. One thread.
 */
#pragma once

#include "clone/module.h"
#include "code/cfi/entry.h"

struct dw_free_stack {
	const struct dw_clone_module *m;
	bool *is_entered; /* by function: others jump into its middle */
	/* of the function that is looked at */
	bool is_used;
	bool has_rows;
	struct dw_cfi_reading entry;
	struct dw_cfi_machine machine;
	uint64_t end; /* of the machine's row, svma */
};

/* Start with the decoded module @m (borrowed). 0 or -ENOMEM, to be released in either case. */
int dw_free_stack_init(struct dw_free_stack *s, const struct dw_clone_module *m);

/* Look at @f from now on. */
void dw_free_stack_begin(struct dw_free_stack *s, const struct dw_clone_function *f);

/* The unwind rules at @svma of that function, no lower than before, borrowed. NULL = unknown. */
const struct dw_cfi_rules *dw_free_stack_rules(struct dw_free_stack *s, uint64_t svma);

/* Whether the stack below rsp is free at @svma of that function, no lower than before. */
bool dw_free_stack_at(struct dw_free_stack *s, uint64_t svma);

/* Free everything. */
void dw_free_stack_release(struct dw_free_stack *s);
