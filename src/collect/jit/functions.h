/*
 * Functions that runtimes made at run time, those that samples lie in. All pieces of code that have
 * one name and declaration are one function: it has an address space of its own, in which they lie
 * end to end (model/allocations.h: methods; a function's token is its id). One thread.
 */
#pragma once

#include "base/map.h"
#include "base/strings.h"
#include "base/vec.h"
#include "model/profile.h"
#include "target/maps.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/*
 * Where the assemblies lie that a process has mapped: runtimes tell of methods by an assembly's
 * name alone.
 */

struct dw_jit_assemblies {
	struct dw_mappings maps; /* as they were at the last look */
	uint64_t look_at_ns;	 /* CLOCK_MONOTONIC: not before this time is looked again */
};

/* Free everything. */
void dw_jit_assemblies_release(struct dw_jit_assemblies *a);

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

/* A function whose module is told, with texts of its own. */
struct dw_jit_declaration {
	const char *module_path, *module_name;
	const char *name;
	const char *file;
	uint32_t line;
};

/* The function that @d declares, added when new. 0, -ENOMEM, DWELL_ERR_LIMIT. */
int dw_jit_functions_declare(struct dw_jit_functions *t, const struct dw_jit_declaration *d,
			     uint32_t *ret);

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

/*
 * Frames whose code is to be told: runtimes keep back what they write, so a sample may come before
 * the name of what it lies in. Such a frame stands for its address at its time.
 */

struct dw_jit_pending {
	uint64_t avma;
	uint64_t time_ns; /* of the first sample there */
	uint64_t svma;	  /* what it turned out to be (functions.h), 0 = not known */
};

/* Of all processes: a frame's svma leads to its row. */
struct dw_jit_pendings {
	DW_VEC(struct dw_jit_pending) rows;
};

/* Those of one process that are not known yet. */
struct dw_jit_open {
	DW_VEC(uint32_t) rows;
	struct dw_map by_avma; /* the newest row + 1 */
};

/* The svma of a frame at @avma at @time_ns into *@ret. 0, -ENOMEM or DWELL_ERR_LIMIT. */
int dw_jit_pending_add(struct dw_jit_pendings *t, struct dw_jit_open *open, uint64_t avma,
		       uint64_t time_ns, uint64_t *ret);

/* The token of row @row, as in svmas. */
uint32_t dw_jit_pending_token(uint32_t row);

/* The row of the frame at @svma, borrowed until the next addition. NULL = it is none. */
const struct dw_jit_pending *dw_jit_pending_at(const struct dw_jit_pendings *t, uint64_t svma);

/* Free the memory of one process's. */
void dw_jit_open_release(struct dw_jit_open *open);
