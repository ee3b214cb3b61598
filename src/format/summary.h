/*
 * The summary in words: what was recorded, where the time went, what is missing, what to type next.
 */
#pragma once

#include "base/out.h"
#include "format/format.h"
#include "model/profile.h"
#include "model/totals.h"

#include <stdbool.h>
#include <stddef.h>

struct dw_summary_style {
	const char *path; /* of the session, for the commands it names */
	size_t width;	  /* columns of the terminal, 0 = not known */
	bool colour;
};

/*
 * Write the summary of a whole recording, at most about 30 lines; facts that are missing are left
 * out. @t needs functions, nodes and tasks. 0 or -ENOMEM (then nothing was written).
 */
int dw_summary_print(struct dw_out *out, const struct dw_profile *p, const struct dw_totals *t,
		     const struct dw_summary_style *style);

/* The same for an opened summary view. */
void dw_summary_write(const struct dw_format_job *job, struct dw_out *out);
