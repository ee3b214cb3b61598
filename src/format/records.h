/*
 * Rows of the formats for machines: one cell after the other, each with its separators.
 *
 * What is written again and again is worked out once and copied: the cells that say where a row's
 * code is (a call tree names its functions thousands of times), and percentages.
 */
#pragma once

#include "format/format.h"

struct dw_format_records;

/* Write cell @cell of the column number @at with all that stands before and behind it. */
typedef void dw_format_put_fn(struct dw_format_records *r, struct dw_out *out, size_t at,
			      const struct dw_cell *cell);

struct dw_format_place;
struct dw_format_percent;

/* What a column's cells begin with: its key, in the format's way. */
struct dw_format_head {
	char text[DWELL_KEY_MAX_BYTES + 8];
	size_t bytes;
};

struct dw_format_records {
	const struct dw_format_job *job;
	dw_format_put_fn *put;
	struct dw_format_head head[DWELL_COLUMNS_N]; /* of the columns, by number */
	size_t columns_n;
	size_t place_begin, place_end;	    /* the columns that are copied, by number */
	struct dw_format_place *places;	    /* slots by hash */
	struct dw_out texts;		    /* what they hold */
	struct dw_format_percent *percents; /* slots by hash */
	struct dw_buf scratch[2];
};

/* Prepare for the rows of @job (borrowed), and heads of @before (at most 3 bytes), the key and
 * @after (likewise). 0 or -ENOMEM, to be released in either case. */
int dw_format_records_init(struct dw_format_records *r, const struct dw_format_job *job,
			   dw_format_put_fn *put, const char *before, const char *after);

/* Write the cells of row @i. */
void dw_format_record(struct dw_format_records *r, struct dw_out *out, size_t i);

/* Write @c plainly: text by @put_text, which escapes it, numbers in full, nothing for an empty
 * cell. For a dw_format_put_fn. */
void dw_format_cell(struct dw_format_records *r, struct dw_out *out, const struct dw_cell *c,
		    void (*put_text)(struct dw_out *out, const char *text));

/* Write @cell as a value of JSON. */
void dw_format_json_cell(struct dw_format_records *r, struct dw_out *out,
			 const struct dw_cell *cell);

/* Write @cell as a member of an object, of rows with heads between ", \"" and "\": ". */
dw_format_put_fn dw_format_json_member;

/* Free everything. */
void dw_format_records_release(struct dw_format_records *r);
