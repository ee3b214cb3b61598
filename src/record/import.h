/*
 * A recording that somebody else made becomes a session.
 */
#pragma once

#include "base/error.h"

#include <stdbool.h>
#include <stdint.h>

struct dw_import_options {
	const char *input;     /* a perf.data file, "-" = standard input */
	const char *output;    /* path of the session */
	const char *event;     /* by name; NULL = the first, "all" = all of them */
	const char *cache_dir; /* for unwind tables, NULL = none */
	const char *home;      /* where perf keeps copies of files, NULL = nowhere */
	bool without_code;
	uint32_t debuginfod_ms; /* ask servers for debug information, so long; 0 = no */
};

struct dw_import_result {
	uint64_t samples_kept;
	bool is_cut;	/* the file ends before its end */
	char *left_out; /* names of events whose samples were not taken; the caller frees it, NULL =
			   none */
};

/* Import. 0; DWELL_ERR_FORMAT, DWELL_ERR_UNSUPPORTED, DWELL_ERR_NOT_FOUND (no such event),
 * DWELL_ERR_REFUSED (the output) or -errno: no session is left then. */
int dw_import_session(const struct dw_import_options *options, struct dw_import_result *ret,
		      struct dw_error *err);
