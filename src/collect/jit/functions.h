/*
 * Functions that runtimes made at run time, those that samples lie in. All pieces of code that have
 * one name and declaration are one function: it has an address space of its own, in which they lie
 * end to end (model/allocations.h: methods; a function's token is its id). One thread.
 */
#pragma once

#include "base/strings.h"
#include "collect/jit/assemblies.h"
#include "model/profile.h"

#include <stddef.h>
#include <stdint.h>

enum { DWELL_JIT_FUNCTIONS_MAX = 0x7fffff };

struct dw_jit_function {
	uint32_t module; /* id in the profile */
	uint32_t name;	 /* ids in texts */
	uint32_t file;	 /* of the declaration, 0 = not told */
	uint32_t line;
	uint64_t bytes; /* of all its pieces so far */
};

struct dw_jit_functions {
	struct dw_profile *p;		     /* borrowed, for additions */
	struct dw_strings texts;	     /* ours: they outlive the profile */
	DW_VEC(struct dw_jit_function) rows; /* by id - 1 */
	struct dw_idset set;
};

/* Who tells of a function: a process and its assemblies. */
struct dw_jit_teller {
	pid_t pid;
	struct dw_jit_assemblies *assemblies;
};

/* The function that @who calls the @n bytes at @name, added when new. 0, -ENOMEM,
 * DWELL_ERR_LIMIT. */
int dw_jit_functions_add(struct dw_jit_functions *t, const struct dw_jit_teller *who,
			 const char *name, size_t n, uint32_t *ret);

/* The module of functions that say of no other: its id. 0 or -ENOMEM. */
int dw_jit_functions_module(struct dw_jit_functions *t, uint32_t *ret);

/* Lay out a piece of @bytes of function @id: the svma of its first byte. */
uint64_t dw_jit_functions_place(struct dw_jit_functions *t, uint32_t id, uint64_t bytes);

/* The svma of what lies @offset behind the start of a piece at @piece. Pieces that are too large
 * have no inside. */
uint64_t dw_jit_functions_inside(uint64_t piece, uint64_t offset);

/* The function whose code lies at @svma, borrowed until the next addition. NULL = none.
 */
const struct dw_jit_function *dw_jit_functions_at(const struct dw_jit_functions *t, uint64_t svma);

/* Free everything. */
void dw_jit_functions_release(struct dw_jit_functions *t);
