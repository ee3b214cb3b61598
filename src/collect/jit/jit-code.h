/*
 * Code that has no file, as the sampler asks for it: what a .NET agent tells of it, what the
 * runtime writes about it, or nothing. One thread.
 */
#pragma once

#include "collect/clr/managed.h"
#include "collect/jit/jit.h"

#include <stdbool.h>
#include <stdint.h>

struct dw_jit_code {
	struct dw_managed *managed; /* borrowed, NULL = runtimes have no agents */
	/* Of the sample being taken in, NULL = none. */
	struct dw_managed_process *runtime;
	struct dw_jit_process *registry;
	uint64_t time_ns;
	struct dw_space_rules rules;
};

/* Whose sample it is. */
struct dw_jit_code_process {
	pid_t pid;
	uint32_t anon;			 /* module of its code without a file, 0 = none */
	struct dw_jit_process *registry; /* NULL = it has none */
};

/*
 * A sample of @who at @time_ns is taken in from now on. *@is_other = memory may have come to hold
 * other code since the last one of this process. 0 or -ENOMEM.
 */
int dw_jit_code_begin(struct dw_jit_code *m, const struct dw_jit_code_process *who,
		      uint64_t time_ns, bool *is_other);

/* Rows of such code for the unwinder, borrowed; they are those of the last dw_jit_code_begin().
 * NULL = none. */
const struct dw_space_rules *dw_jit_code_rules(struct dw_jit_code *m);

/* The frame of @avma, @has_file: in code that a file tells of. 0, DWELL_ERR_NOT_FOUND or
 * -ENOMEM. */
int dw_jit_code_frame(struct dw_jit_code *m, uint64_t avma, bool has_file, struct dw_frame *ret);
