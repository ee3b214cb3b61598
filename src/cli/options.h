/*
 * Option tables: a command says once what options it takes; parsing, `dwell help COMMAND` and the
 * messages for wrong usage come from that table.
 *
 * An option writes its value to a field of the command's own struct. Forms: --name VALUE,
 * --name=VALUE, -x VALUE, -xVALUE, and flags of one letter together (-qv). "--" ends the options.
 * Texts are borrowed from argv. One thread.
 */
#pragma once

#include "analysis/filter.h"
#include "analysis/just-my-code.h"
#include "base/error.h"
#include "base/buf.h"
#include "base/out.h"
#include "base/suggest.h"
#include "base/vec.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What is wrong with the user's words: DWELL_ERR_USAGE. */
#define dw_misuse(err, ...) dw_error_set(err, DWELL_ERR_USAGE, __VA_ARGS__)

/* Turn @value into the field at @into. 0 or DWELL_ERR_USAGE with what is wrong with the value. */
typedef int dw_option_fn(const char *value, void *into, struct dw_error *err);

struct dw_option {
	const char *name;   /* long name without dashes; NULL ends a table */
	char letter;	    /* short name, 0 = none */
	const char *value;  /* what help calls the value; NULL = a flag; "[=...": may be absent */
	dw_option_fn *take; /* dw_option_text and friends; a flag's too (value is NULL then) */
	size_t offset;	    /* of the field in the command's struct */
	const char *help;   /* one line, lower case, no full stop; NULL = not shown */
};

/* Values of an option that may be given several times. Release with dw_vec_release(). */
struct dw_option_list {
	const char **v;
	size_t n;
	size_t cap;
};

/* For a field `const char *`. */
dw_option_fn dw_option_text;

/* For a field `struct dw_option_list`: appends. */
dw_option_fn dw_option_list;

/* For a field `bool`: a flag, sets it. */
dw_option_fn dw_option_flag;

/* For a field `uint64_t`: a decimal number. */
dw_option_fn dw_option_count;

/* For a field `double`: a number from 0 to 100, a "%" behind it is fine. */
dw_option_fn dw_option_percent;

/* For a field `uint64_t` in nanoseconds: a bare number is seconds; ns, us, ms, s, m, h behind it.
 */
dw_option_fn dw_option_time_ns;

/*
 * Read the options of @argv (argv[0] is the command's name) into the struct at @into and move the
 * operands to the end of @argv, in order.
 * @leading  options end at the first operand (it is a command with options of its own).
 * @first    index of the first operand, argc when there is none.
 * Returns 0; 1 when --help or -h was met; DWELL_ERR_USAGE with one line that names the option.
 */
int dw_options_parse(const struct dw_option *table, bool leading, char **argv, void *into,
		     int *first, struct dw_error *err);

/* The place of @word in @list (of @n), -1 = it is not there. */
int dw_option_index(const char *word, const char *const *list, size_t n);

/* Words that may stand in one place, to say what fits when one does not. */
struct dw_candidates {
	struct dw_suggestion nearest;
	struct dw_buf list;
};

#define DW_CANDIDATES_INIT          \
	{                           \
		.list = DW_BUF_INIT \
	}

/* Begin, for the @n bytes at @word, which is none of them. */
void dw_candidates_begin(struct dw_candidates *c, const char *word, size_t n);

/* There is @candidate (borrowed). */
void dw_candidates_offer(struct dw_candidates *c, const char *candidate);

/* DWELL_ERR_USAGE in one line: there is no such @kind, what is nearest, and all that there are.
 * Frees @c. */
int dw_candidates_unknown(struct dw_candidates *c, const char *kind, struct dw_error *err);

/* Write one line per option for `dwell help`. */
void dw_options_help(const struct dw_option *table, struct dw_out *out);

/* The options by which debug information is asked of servers, of all commands that name functions.
 */
struct dw_debuginfod_choice {
	uint64_t timeout_ns; /* 0 = not given */
	bool is_wanted;
};

/* For a field `struct dw_debuginfod_choice`: the flag. */
dw_option_fn dw_option_debuginfod;

/* For the same field: the time, which asks, too. */
dw_option_fn dw_option_debuginfod_timeout;

/* Rows of an option table for the field at @at. */
#define DW_DEBUGINFOD_OPTIONS(at)                                                             \
	{                                                                                     \
		"debuginfod",                                                                 \
		0,                                                                            \
		NULL,                                                                         \
		dw_option_debuginfod,                                                         \
		at,                                                                           \
		"ask the servers in DEBUGINFOD_URLS for debug information that is not here"}, \
	{                                                                                     \
		"debuginfod-timeout", 0, "TIME", dw_option_debuginfod_timeout, at,            \
			"for at most TIME, all together (10); asks, too"                      \
	}

/* How long servers may be asked, in ms: 0 = not at all. */
uint32_t dw_debuginfod_choice_ms(const struct dw_debuginfod_choice *c);

/* Which waits count: option --waits. */
struct dw_waits_choice {
	bool is_given;
	dw_wait_kinds left_out;
};

/* For a field `struct dw_waits_choice`: kinds, or "all". */
dw_option_fn dw_option_waits;

/* What part of a session a command shows: the same words for all commands that read one. */
struct dw_filter_options {
	struct dw_option_list processes, threads, modules, types;
	uint64_t from_ns, to_ns; /* to_ns 0 = no end */
	struct dw_waits_choice waits;
	const char *save;     /* file to write them to, NULL = none */
	DW_VEC(char *) words; /* of files, that values are borrowed from */
};

/* For a field `struct dw_filter_options`: a file with more of them (filter-file.h). */
dw_option_fn dw_option_filter;

/* The same as words, borrowed. */
struct dw_filter_words dw_filter_options_words(const struct dw_filter_options *o);

/* Rows of an option table for the field at @at: what filter files hold, too. */
#define DW_FILTER_CHOICES(at)                                                                  \
	{"process",                                                                            \
	 0,                                                                                    \
	 "PID|NAME",                                                                           \
	 dw_option_list,                                                                       \
	 at + offsetof(struct dw_filter_options, processes),                                   \
	 "only this process"},                                                                 \
		{"thread",                                                                     \
		 0,                                                                            \
		 "TID|NAME",                                                                   \
		 dw_option_list,                                                               \
		 at + offsetof(struct dw_filter_options, threads),                             \
		 "only this thread"},                                                          \
		{"module",                                                                     \
		 0,                                                                            \
		 "GLOB",                                                                       \
		 dw_option_list,                                                               \
		 at + offsetof(struct dw_filter_options, modules),                             \
		 "only time whose innermost function is in this module"},                      \
		{"type",                                                                       \
		 0,                                                                            \
		 "GLOB",                                                                       \
		 dw_option_list,                                                               \
		 at + offsetof(struct dw_filter_options, types),                               \
		 "memory: only objects of this type"},                                         \
		{"waits",                                                                      \
		 0,                                                                            \
		 "KIND,...",                                                                   \
		 dw_option_waits,                                                              \
		 at + offsetof(struct dw_filter_options, waits),                               \
		 "kinds of waits that count, or all, or none (not: idle, child, ready)"},      \
		{"from",                                                                       \
		 0,                                                                            \
		 "TIME",                                                                       \
		 dw_option_time_ns,                                                            \
		 at + offsetof(struct dw_filter_options, from_ns),                             \
		 "only from this time since the start (2, 500ms, 1m)"},                        \
	{                                                                                      \
		"until", 0, "TIME", dw_option_time_ns,                                         \
			at + offsetof(struct dw_filter_options, to_ns), "only up to this time" \
	}

/* The same with those of filter files. */
#define DW_FILTER_OPTIONS(at)                                                                \
	DW_FILTER_CHOICES(at),                                                               \
		{"filter",	   0,  "FILE",                                               \
		 dw_option_filter, at, "with the options of this kind in FILE, one a line"}, \
	{                                                                                    \
		"save-filter", 0, "FILE", dw_option_text,                                    \
			at + offsetof(struct dw_filter_options, save),                       \
			"write the options of this kind to FILE, for --filter"               \
	}

/* Find what the words mean in @p. As dw_filter_resolve(), DWELL_ERR_USAGE also for types of objects
 * where there are none. */
int dw_filter_options_resolve(const struct dw_filter_options *o, const struct dw_profile *p,
			      struct dw_filter_owned *ret, struct dw_error *err);

/* Write the words to the file that --save-filter names, if it was given. As
 * dw_filter_file_write(). */
int dw_filter_options_save(const struct dw_filter_options *o, struct dw_error *err);

/* Free the lists. */
void dw_filter_options_release(struct dw_filter_options *o);

/* How the system's code is shown. */
struct dw_my_code_options {
	bool is_given, shows_all;
	bool keeps_callers, keeps_callees;
	struct dw_option_list mine, systems;
};

/* For a field `struct dw_my_code_options`: "caller", "callee", both, or nothing. */
dw_option_fn dw_option_my_code;

/* Rows of an option table for the field at @at. */
#define DW_MY_CODE_OPTIONS(at)                                                               \
	{"just-my-code",                                                                     \
	 0,                                                                                  \
	 "[=caller,callee]",                                                                 \
	 dw_option_my_code,                                                                  \
	 at,                                                                                 \
	 "fold the system's code into yours, but for what calls yours or what yours calls"}, \
		{"all-code",                                                                 \
		 0,                                                                          \
		 NULL,                                                                       \
		 dw_option_flag,                                                             \
		 (at) + offsetof(struct dw_my_code_options, shows_all),                      \
		 "fold nothing (tables of samples and objects keep one level: callee)"},     \
		{"my-module",                                                                \
		 0,                                                                          \
		 "GLOB",                                                                     \
		 dw_option_list,                                                             \
		 (at) + offsetof(struct dw_my_code_options, mine),                           \
		 "this module's code is yours"},                                             \
	{                                                                                    \
		"system-module", 0, "GLOB", dw_option_list,                                  \
			(at) + offsetof(struct dw_my_code_options, systems),                 \
			"this module's code is the system's"                                 \
	}

/* Fold @p as @o says, or as tables do if nothing was said and @is_table. @opened: function that is
 * asked for, 0 = none. As dw_fold_system_code(). */
int dw_my_code_apply(const struct dw_my_code_options *o, bool is_table, uint32_t opened,
		     struct dw_profile *p, size_t *ret, struct dw_error *err);

/* Free the lists. */
void dw_my_code_options_release(struct dw_my_code_options *o);
