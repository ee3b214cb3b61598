/*
 * A command of dwell: one table entry, so that `dwell help`, the parser and main agree.
 *
 * To add one: src/cli/cmd-NAME.c with a `const struct dw_command`, its line in the list of main.c,
 * a man page docs/man/dwell-NAME.1 and a case in scripts/completion/dwell.bash.
 */
#pragma once

#include "base/error.h"
#include "cli/options.h"

#include <stdbool.h>

/* Exit codes of dwell itself. */
enum dw_exit {
	DWELL_EXIT_OK = 0,
	DWELL_EXIT_BAD = 1,	   /* commands that read: the input is bad or absent */
	DWELL_EXIT_USAGE = 2,	   /* commands that read: wrong usage */
	DWELL_EXIT_REGRESSION = 3, /* dwell diff: a condition is met */
	DWELL_EXIT_UNDECIDED = 4,  /* likewise: cannot be decided */
	DWELL_EXIT_FAILED = 125,   /* commands that run a target: dwell failed, or wrong usage */
};

struct dw_command {
	const char *name;
	const char *help;		  /* one line, lower case, no full stop */
	const char *synopsis;		  /* what stands behind the name: "FILE [VIEW] [options]" */
	void (*list)(struct dw_out *out); /* lists what it knows for `dwell help NAME`, or NULL */
	const struct dw_option *options;
	bool leading; /* options end at the first operand */
	int misuse;   /* exit code for wrong usage */
	/* Run with argv[0] = the command's name; returns the exit code. */
	int (*run)(const struct dw_command *self, int argc, char **argv);
};

extern const struct dw_command dw_cmd_sample;
extern const struct dw_command dw_cmd_instrument;
extern const struct dw_command dw_cmd_memory;
extern const struct dw_command dw_cmd_read;
extern const struct dw_command dw_cmd_report;
extern const struct dw_command dw_cmd_view;
extern const struct dw_command dw_cmd_export;
extern const struct dw_command dw_cmd_import;
extern const struct dw_command dw_cmd_recover;
extern const struct dw_command dw_cmd_diff;
extern const struct dw_command dw_cmd_merge;
extern const struct dw_command dw_cmd_doctor;
extern const struct dw_command dw_cmd_live;

/*
 * Parse @argv by the table of @self into @into. Returns -1 to go on (operands are argv + *@first);
 * else the exit code to end with: help was printed, or wrong usage was reported in one line.
 */
int dw_command_parse(const struct dw_command *self, char **argv, void *into, int *first);

/* Print "dwell NAME: message" to stderr for wrong usage and return the exit code for it. */
int dw_command_misuse(const struct dw_command *self, const struct dw_error *err);

/* The same of a message that @fmt gives. */
int dw_command_wrong(const struct dw_command *self, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

/* Print "dwell: message" to stderr and return @exit_code. */
int dw_command_fail(const struct dw_error *err, int exit_code);

/* Print the help of @self to stdout. */
void dw_command_help(const struct dw_command *self);
