/*
 * Option tables: a command says once what options it takes; parsing, `dwell help COMMAND` and the
 * messages for wrong usage come from that table.
 *
 * An option writes its value to a field of the command's own struct. Forms: --name VALUE,
 * --name=VALUE, -x VALUE, -xVALUE, and flags of one letter together (-qv). "--" ends the options.
 * Texts are borrowed from argv. One thread.
 */
#pragma once

#include "base/error.h"
#include "base/out.h"
#include "base/vec.h"

#include <stdbool.h>
#include <stddef.h>

/* Turn @value into the field at @into. 0 or DWELL_ERR_USAGE with what is wrong with the value. */
typedef int dw_option_fn(const char *value, void *into, struct dw_error *err);

struct dw_option {
	const char *name;   /* long name without dashes; NULL ends a table */
	char letter;	    /* short name, 0 = none */
	const char *value;  /* what help calls the value; NULL = a flag */
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

/* Write one line per option for `dwell help`. */
void dw_options_help(const struct dw_option *table, struct dw_out *out);
