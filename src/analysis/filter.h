/*
 * Filters and functions as the user words them, resolved against a profile, and what a filter lets
 * through: threads, stacks, slices of time.
 */
#pragma once

#include "analysis/totals.h"
#include "base/buf.h"
#include "base/error.h"
#include "model/profile.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Each list widens: a sample passes when it fits one of the processes, one of the threads, ... */
struct dw_filter_words {
	const char *const *processes; /* system ids, names, or commands */
	size_t processes_n;
	const char *const *threads; /* system thread ids or names */
	size_t threads_n;
	const char *const *modules; /* globs or exact names, of the name or of the whole path */
	size_t modules_n;
	const char *const *types; /* of objects: globs or exact names */
	size_t types_n;
	uint64_t from_ns;
	uint64_t to_ns; /* 0 = no end */
	dw_wait_kinds waits_left_out;
};

/* A vector: 1 = keep, by id. */
struct dw_filter_flags {
	uint8_t *v;
	size_t n, cap;
};

/* A filter and what it points to. */
struct dw_filter_owned {
	struct dw_filter filter;
	DW_VEC(uint32_t) processes;
	DW_VEC(uint32_t) threads;
	struct dw_filter_flags modules, types;
};

/*
 * Resolve @words. DWELL_ERR_NOT_FOUND when a word fits nothing in @p (@err names the word);
 * DWELL_ERR_USAGE for an empty range; -ENOMEM. Release @ret in any case.
 */
int dw_filter_resolve(const struct dw_profile *p, const struct dw_filter_words *words,
		      struct dw_filter_owned *ret, struct dw_error *err);

/* Free everything. */
void dw_filter_release(struct dw_filter_owned *f);

/*
 * Set @flags[id] to @value for each module of @p that @word means: a glob or the exact name, of the
 * name or of the whole path. 0 or DWELL_ERR_NOT_FOUND (@err names the word, and the nearest name).
 */
int dw_match_modules(const struct dw_profile *p, const char *word, uint8_t *flags, uint8_t value,
		     struct dw_error *err);

/*
 * The functions of @p that @text means: those whose demangled name it is; else, without return type
 * and parameters, those whose name it is with all scopes, else with some; else those that it fits
 * as a glob; else those whose name contains it. "MODULE!NAME" and "MODULE!0xADDRESS" tell apart
 * functions of one name.
 * @ret  set to the only one.
 * Returns 0; DWELL_ERR_NOT_FOUND (none: @err names the nearest; or several: it lists them, one a
 * line, in the form that is unique); -ENOMEM.
 */
int dw_match_function(const struct dw_profile *p, const char *text, uint32_t *ret,
		      struct dw_error *err);

/* Write to @ret what dw_match_function() takes for @function alone: its name, with its module where
 * others have that name, too. */
void dw_function_word(const struct dw_profile *p, uint32_t function, struct dw_buf *ret);

/* Whether @id is among the @n @ids, of which NULL has all. */
bool dw_select_id(const uint32_t *ids, size_t n, uint32_t id);

/* Decide for all threads, 0 included: @process[id] becomes the id of the thread's process (0 = not
 * known), or UINT32_MAX when the filter leaves the thread out. */
void dw_select_threads(const struct dw_profile *p, const struct dw_filter *filter,
		       uint32_t *process);

/* Whether the innermost frame of @stack lies in one of the filter's modules. */
bool dw_select_stack(const struct dw_profile *p, const struct dw_filter *filter, uint32_t stack);

/* Whether @x is a wait of a kind that does not count. */
static inline bool dw_extra_is_left_out(const struct dw_filter *filter, const struct dw_extra *x)
{
	return filter->waits_left_out && x->measure == DWELL_MEASURE_BLOCKED &&
	       dw_wait_kinds_have(filter->waits_left_out, x->kind);
}

/* How much of @x would pass @filter if all kinds of waits counted. @lane as below. */
uint64_t dw_extra_in_sight(const struct dw_profile *p, const struct dw_filter *filter,
			   const uint32_t *lane, const struct dw_extra *x);

/* How much of @x passes @filter, 0 = nothing. @lane: by thread id, UINT32_MAX = the filter leaves
 * the thread out. */
uint64_t dw_extra_passing(const struct dw_profile *p, const struct dw_filter *filter,
			  const uint32_t *lane, const struct dw_extra *x);

struct dw_slices {
	uint8_t *passes;	 /* by slice: 1 = counts */
	uint64_t from_ns, to_ns; /* what they come to; 0, 0 = no range was asked for */
};

/* Choose slices of @calls for the filter's range, as dw_calls_select() does. 0 or -ENOMEM. */
int dw_slices_init(struct dw_slices *s, const struct dw_calls *calls,
		   const struct dw_filter *filter);

/* Free everything. */
void dw_slices_release(struct dw_slices *s);
