/*
 * Comparisons of sessions as text: what has changed in words with a table of it, and for machines.
 * To add a format: a function here, its name in dw_diff_formats.
 */
#pragma once

#include "base/out.h"
#include "compare/comparison.h"
#include "compare/verdict.h"
#include "format/units.h"

#include <stdbool.h>
#include <stddef.h>

struct dw_diff_job {
	const struct dw_comparison *comparison; /* finished */
	size_t rows;				/* at most these many; 0 = all that are listed */
	size_t width; /* columns of the terminal; 0 = as wide as it gets */
	bool colour;
};

struct dw_diff_format {
	const char *name;
	bool human_readable;
	void (*write)(const struct dw_diff_job *job, struct dw_out *out);
};

/* All formats, the default one first, ended by a NULL name. */
extern const struct dw_diff_format dw_diff_formats[];

/* The one called @name, NULL = there is none. */
const struct dw_diff_format *dw_diff_format_find(const char *name);

/* How many rows @job writes. */
size_t dw_diff_rows(const struct dw_diff_job *job);

/* Write what changed most in sentences, a line each, as wide as the terminal, and how far that can
 * be trusted. @before each line, "" = nothing. */
void dw_diff_write_words(const struct dw_diff_job *job, const char *before, struct dw_out *out);

/* Whether @column, an index, is of times. */
bool dw_diff_is_time(const struct dw_comparison *c, size_t column);

/* What the count @column, an index, is of: "calls". Static. */
const char *dw_diff_noun(const struct dw_comparison *c, size_t column);

/* Append an amount of @column, an index, in its own unit: "12.3 ms", "1,000". @sign: with one,
 * also a plus. */
void dw_diff_put_amount(struct dw_buf *b, const struct dw_comparison *c, size_t column, double n,
			bool sign);

/* Append what happened to @row in few words, "more calls, by its callers". */
void dw_diff_put_happened(struct dw_buf *b, const struct dw_comparison *c, size_t row);

/* Append what @row is about: "parse_line", "parse_line:12", "[module libz.so]"; with what the base
 * calls it, if that is something else. */
void dw_diff_put_name(struct dw_buf *b, const struct dw_comparison *c, size_t row);

/* What likeness is called in machine formats. Static. */
const char *dw_diff_likeness(enum dw_likeness likeness);

/* The writers, each in a file of its own. */
void dw_diff_write_table(const struct dw_diff_job *job, struct dw_out *out);

/* For a comment on a change. */
void dw_diff_write_markdown(const struct dw_diff_job *job, struct dw_out *out);

/* For spreadsheets. */
void dw_diff_write_csv(const struct dw_diff_job *job, struct dw_out *out);

/* For programs: docs/report-json.md. */
void dw_diff_write_json(const struct dw_diff_job *job, struct dw_out *out);
