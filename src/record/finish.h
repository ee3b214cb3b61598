/*
 * Finishing: a session that holds raw stacks becomes one that holds names, lines, code and totals.
 *
 * One way for a recording that ended and for a .partial that a killed collector left.
 */
#pragma once

#include "base/error.h"
#include "model/profile.h"
#include "symbol/symbolize.h"
#include "target/file.h"

#include <stdbool.h>
#include <stdint.h>

struct dw_finish_options {
	const char *partial; /* path of the unfinished session */
	const char *path;    /* path of the finished one */
	const struct dw_module_source
		*sources; /* by module id, borrowed; NULL = find the modules' files again */
	size_t sources_n;
	uint32_t symbol_timeout_ms; /* for one module, 0 = the symbolizer's choice */
	uint32_t debuginfod_ms;	    /* ask servers for debug information, so long; 0 = no */
	bool held;		    /* the caller's writer holds the partial */
	bool without_code;
	bool with_source;	/* put the text of source files into the session */
	bool names_only;	/* as struct dw_symbol_options */
	dw_il_line_fn *il_line; /* lines of managed code, NULL = none are known */
	void *il_line_ctx;
	dw_import_name_fn *import_name; /* as struct dw_symbol_options */
	void *import_name_ctx;
	struct dw_early *early; /* as there; borrowed */
	const char *cache_dir;	/* as there */
	dw_made_fn *made;	/* meaning of made code, NULL = none is known */
	void *made_ctx;
};

/* Load, symbolize, total and write. 0, or a negative code: the partial file stays as it was. */
int dw_finish(const struct dw_finish_options *options, struct dw_error *err);

/*
 * Give names to a loaded profile @p whose recording was not finished, and the facts that only an
 * end knows.
 * @options  path and partial are not used. 0 or -ENOMEM. What cannot be resolved stays a number.
 */
int dw_name_profile(struct dw_profile *p, const struct dw_finish_options *options,
		    struct dw_error *err);
