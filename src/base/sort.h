/*
 * Sorting by a number: digit by digit, in time that grows with the rows alone. qsort() takes
 * several times as long for the addresses of a large module.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

struct dw_sort_row {
	uint64_t key;
	size_t row; /* the caller's */
};

/* Sort the @n @rows by their keys, equal ones stay in their order. 0 or -ENOMEM. */
int dw_sort_rows(struct dw_sort_row *rows, size_t n);
