/*
 * What cells and headers of tables say, for whatever shows one: numbers in the units of tables,
 * marks beside them, names of a tree behind their indentation. One thread.
 */
#pragma once

#include "base/buf.h"
#include "format/format.h"
#include "format/units.h"
#include "view/view.h"

#include <stdbool.h>
#include <stddef.h>

#define DWELL_UPPER_BOUND  "<=" /* before a number */
#define DWELL_ONLY_COUNTED "*"	/* behind one */

struct dw_table_words {
	struct dw_buf scratch;
	struct dw_buf text;			 /* the cell at hand */
	bool has_counted;			 /* a row has calls that were not measured */
	enum dw_time_unit unit[DWELL_COLUMNS_N]; /* of times, by column */
};

/* The header of @column: shorter than its title where nothing gets lost. Borrowed. */
const char *dw_table_header(const struct dw_format_job *job, enum dw_column column);

/* How exactly times of @column are written, where a sample stands for @sample_ns. */
enum dw_time_digits dw_table_digits(enum dw_column column, double sample_ns);

/* Whether @column is left-aligned text that may be cut. */
bool dw_table_is_text(enum dw_column column);

/* What @column shows of @row, borrowed until the next call. @width: of the column, by which rows of
 * a tree are indented, SIZE_MAX = as wide as it gets. */
const char *dw_table_show(const struct dw_format_job *job, const struct dw_row *row,
			  enum dw_column column, size_t width, struct dw_table_words *w);

/* Let times of @column have a unit that fits the cell @c, too. */
void dw_table_fit_unit(const struct dw_format_job *job, enum dw_column column,
		       const struct dw_cell *c, struct dw_table_words *w);

/* Append a number of @column to @w->text. */
void dw_table_put_number(const struct dw_format_job *job, enum dw_column column,
			 const struct dw_cell *c, struct dw_table_words *w);

/* How text is made to fit: dw_text_put_fitted() and the like. */
typedef size_t dw_put_fitted_fn(struct dw_out *out, const char *s, size_t columns);

/* How what @column shows of @row is made to fit. */
dw_put_fitted_fn *dw_table_fitting(const struct dw_format_job *job, const struct dw_row *row,
				   enum dw_column column);

/* Whether the cell is to catch the eye: much of everything is this row's own. */
bool dw_table_is_hot(const struct dw_format_job *job, const struct dw_row *row,
		     enum dw_column column);

/* Whether nobody knows when threads of any process were switched: then application times have
 * blocked time. */
bool dw_table_is_upper_bound(const struct dw_format_job *job);

/* The same of some processes. */
bool dw_table_has_unseen(const struct dw_format_job *job);

/* Columns that say least beside the others, those first, where there is no room for all. Static. */
const enum dw_column *dw_table_left_out(const struct dw_format_job *job);

/* Free everything. */
void dw_table_words_release(struct dw_table_words *w);
