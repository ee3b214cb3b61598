/*
 * What the parts of a summary share.
 */
#pragma once

#include "format/format.h"

#include <stddef.h>

struct dw_summary_writer {
	const struct dw_format_job *job;
	struct dw_out *out;
	struct dw_buf scratch[2];
};

/* Columns of a line. */
size_t dw_summary_width(const struct dw_format_job *job);

/* A blank line and a heading. */
void dw_summary_heading(const struct dw_summary_writer *w, const char *text);

/* The name of a row, fitted into what @used columns leave of the line, but never shorter than can
 * be read. */
void dw_summary_name(struct dw_summary_writer *w, const struct dw_row *row, size_t used);
