/*
 * What instrumentation did, as text: the summary after a run, the calls, and the list of functions
 * without a run.
 *
 * Names are foreign and are escaped as each format wants it.
 */
#pragma once

#include "base/error.h"
#include "base/out.h"
#include "record/instrument.h"

#include <stddef.h>

/* The formats of dw_list_functions(). */
enum dw_list_format { DWELL_LIST_TABLE, DWELL_LIST_CSV, DWELL_LIST_JSON };

/* What ran from clones, what was left alone and why, which processes had no agent. With a session,
 * whose own summary was printed before, only what went wrong. */
void dw_instrumented_summary(struct dw_out *out, const struct dw_instrument_result *r,
			     bool has_session);

/* The titles of dw_instrumented_calls(), with the end of the line. */
extern const char dw_calls_titles[];

/*
 * Write the functions of all modules that were called, as CSV, most calls first. 0, -ENOMEM,
 * -errno of naming.
 */
int dw_instrumented_calls(struct dw_out *out, const struct dw_instrument_result *r,
			  struct dw_error *err);

/*
 * Write what would be cloned of the modules of @images (@n), and what not and why. Modules without
 * an image are left out. 0, -ENOMEM, -errno.
 */
int dw_list_functions(struct dw_out *out, struct dw_module_image *const *images, size_t n,
		      enum dw_list_format format, struct dw_error *err);
