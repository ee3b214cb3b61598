/*
 * Growth and sorting of arrays; see vec.h. Rows are sorted by radix from the lowest digit on. All
 * digits are counted in one pass; one that all keys share, as addresses share their high ones,
 * takes no pass of its own.
 */
#include "base/vec.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

int dw_vec_grow(void **pv, size_t *cap, size_t need, size_t size)
{
	size_t want = *cap < 8 ? 16 : *cap + *cap / 2;
	void *v;

	if (want < need)
		want = need;
	v = reallocarray(*pv, want, size);
	if (!v)
		return -ENOMEM;
	*pv = v;
	*cap = want;
	return 0;
}

enum { DIGITS = 8, VALUES = 256 };

static unsigned digit(uint64_t key, unsigned i)
{
	return key >> 8 * i & (VALUES - 1);
}

static bool is_sorted(const struct dw_sort_row *rows, size_t n)
{
	for (size_t i = 1; i < n; i++)
		if (rows[i - 1].key > rows[i].key)
			return false;
	return true;
}

/* Move @from to @to in the order of the digit @i, of which there are @counts. */
static void sort_digit(const struct dw_sort_row *from, struct dw_sort_row *to, size_t n, unsigned i,
		       const size_t counts[VALUES])
{
	size_t at[VALUES], sum = 0;

	for (unsigned value = 0; value < VALUES; value++) {
		at[value] = sum;
		sum += counts[value];
	}
	for (size_t k = 0; k < n; k++)
		to[at[digit(from[k].key, i)]++] = from[k];
}

int dw_sort_rows(struct dw_sort_row *rows, size_t n)
{
	size_t counts[DIGITS][VALUES] = {0};
	struct dw_sort_row *other, *from = rows, *to;

	if (is_sorted(rows, n))
		return 0;
	other = to = malloc(n * sizeof *other);
	if (!other)
		return -ENOMEM;
	for (size_t k = 0; k < n; k++)
		for (unsigned i = 0; i < DIGITS; i++)
			counts[i][digit(rows[k].key, i)]++;
	for (unsigned i = 0; i < DIGITS; i++) {
		if (counts[i][digit(rows[0].key, i)] == n)
			continue;
		sort_digit(from, to, n, i, counts[i]);
		from = to;
		to = from == rows ? other : rows;
	}
	if (from != rows)
		memcpy(rows, from, n * sizeof *rows);
	free(other);
	return 0;
}
