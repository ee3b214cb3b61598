/*
 * Which columns of a view are compared, and reading them. One thread.
 */
#pragma once

#include "compare/comparison.h"

/* Choose the columns of @c, whose first session is seen by @v. */
void dw_compared_columns_choose(struct dw_comparison *c, const struct dw_view *v);

/* What @row has of @column. */
uint64_t dw_compared_column_value(const struct dw_view *v, const struct dw_row *row,
				  enum dw_column column, struct dw_buf *scratch);

/* The calls by which @row's average in @column is divided, 1 of what is no average. */
uint64_t dw_compared_column_weight(const struct dw_row *row, enum dw_column column);

/* Let *@to, of *@weight, have @value of @more, too, as rows of one name are one: the sum of sums,
 * the mean of averages, the larger of maxima, the smaller of minima. */
void dw_compared_column_join(enum dw_column column, uint64_t *to, uint64_t *weight, uint64_t value,
			     uint64_t more);

/* What there is of @column altogether, 0 = it has no such sum. */
uint64_t dw_compared_column_all(const struct dw_view *v, enum dw_column column);

/* Whether @column is of amounts: counts or durations. */
bool dw_compared_column_is_amount(enum dw_column column);

/* Whether rows can be compared by @column as the main one: by sums, or shares of them. */
bool dw_compared_column_is_total(enum dw_column column);

/* The index of @column in @c, which compares it. */
size_t dw_compared_column_find(const struct dw_comparison *c, enum dw_column column);
