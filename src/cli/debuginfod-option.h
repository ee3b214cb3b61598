/*
 * The options by which debug information is asked of servers, for all commands that name functions.
 */
#pragma once

#include "cli/options.h"

#include <stdbool.h>
#include <stdint.h>

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
