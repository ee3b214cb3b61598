/*
 * Interpreters in targets: what agents tell of them (wire/interpreter.h) becomes functions of
 * modules that are named after their source files, with lines, as those of JIT code
 * (collect/jit/functions.h).
 *
 * What is told is hostile input. One thread.
 */
#pragma once

#include "base/map.h"
#include "base/vec.h"
#include "collect/jit/jit.h"
#include "collect/interpreter/eval.h"
#include "model/profile.h"
#include "wire/interpreter.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { DWELL_INTERPRETER_CODES_MAX = 1 << 20 }; /* of one process */

/* What became of samples of threads that run an interpreter. */
struct dw_interpreter_counts {
	uint64_t samples;   /* with its frames */
	uint64_t torn;	    /* that the agent could not read */
	uint64_t unmatched; /* whose frames do not go with the native ones: left out */
	uint64_t unnamed;   /* with a frame whose function was not told */
	uint64_t unknown;   /* interpreters whose frames agents cannot read */
};

/* Of all processes; zero-initialised but for @jit. */
struct dw_interpreters {
	struct dw_jit *jit;   /* borrowed, NULL = nothing is named */
	struct dw_map places; /* of functions' code in their space -> row + 1 of svmas */
	DW_VEC(uint64_t) svmas;
	struct dw_interpreter_counts counts[DWELL_LANGUAGES_END]; /* by language */
	/* The same of stacks that were read from outside. */
	struct dw_interpreter_counts waits[DWELL_LANGUAGES_END];
};

/* A function. */
struct dw_interpreter_told {
	uint32_t seal;
	uint32_t module;
	uint32_t bytes;
	uint64_t svma; /* of its first position, in the space of functions */
};

/* Where CPython has the states of its threads; see python-states.h. */
struct dw_interpreter_threads {
	struct dw_map by_tid; /* -> row + 1 */
	DW_VEC(uint64_t) states;
	uint64_t newest; /* the number of the newest, when all were looked at, 0 = look again */
};

/* One process's interpreter. */
struct dw_interpreter_process {
	struct dw_interpreter_runtime told;
	bool is_known;	/* all of it was told */
	bool is_placed; /* the next two are known */
	uint64_t bias;	/* of the module with it: svma = avma - bias */
	struct dw_interpreter_eval eval;
	struct dw_map by_code; /* number of a function -> row + 1 */
	DW_VEC(struct dw_interpreter_told) codes;
	struct dw_interpreter_threads threads;
};

/* What facts call @language, and what its interpreter has in itself is in: "python", "[python]".
 * Static. */
const char *dw_language_name(uint32_t language);

/* The sum of what could not be told. */
static inline uint64_t dw_interpreter_unread(const struct dw_interpreter_counts *c)
{
	return c->torn + c->unmatched + c->unnamed;
}

/* The process has the interpreter @told. NULL = no memory. */
struct dw_interpreter_process *dw_interpreter_begin(const struct dw_interpreter_runtime *told);

/* It is in the module whose bytes are @elf (NULL = not known) at @bias. 0 or -ENOMEM. */
int dw_interpreter_place(struct dw_interpreter_process *p, const struct dw_elf *elf, uint64_t bias);

/* Take in the @n bytes at @record, struct dw_interpreter_code and what follows it. 0,
 * DWELL_ERR_FORMAT or -ENOMEM. */
int dw_interpreter_tell(struct dw_interpreters *all, struct dw_interpreter_process *p,
			const uint8_t *record, size_t n);

/* Whether the native frame at @avma evaluates frames. */
static inline bool dw_interpreter_evaluates(const struct dw_interpreter_process *p, uint64_t avma)
{
	return dw_interpreter_eval_has(&p->eval, avma - p->bias);
}

/* The frame of the profile that @frame, which has a function, is. False: it was not told. */
bool dw_interpreter_frame(const struct dw_interpreter_process *p,
			  const struct dw_interpreter_frame *frame, struct dw_frame *ret);

/* Free @p. NULL is fine. */
void dw_interpreter_end(struct dw_interpreter_process *p);

/* Free everything. */
void dw_interpreter_release(struct dw_interpreters *all);
