/*
 * The calling context tree; see cct.h.
 *
 * Parents have smaller ids than their children. So one pass from the largest id down finds the size
 * of each subtree, and one up gives each path the next free position of its parent. The bitmap
 * makes that cost a few microseconds for a process with few stacks, even when the recording has
 * millions.
 */
#include "analysis/cct.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

int dw_cct_init(struct dw_cct *t, uint32_t ids_n, const struct dw_amounts *like)
{
	*t = (struct dw_cct){.ids_n = ids_n,
			     .common_n = like->common_n,
			     .rare_n = like->all_n - (unsigned)like->common_n,
			     .calls = like->place[DWELL_MEASURE_CALLS],
			     .samples = like->place[DWELL_MEASURE_SAMPLES],
			     .work = like->place[DWELL_MEASURE_WORK],
			     .sample_ns = like->sample_ns};
	t->parent = malloc((ids_n + 1ul) * sizeof *t->parent);
	t->position = calloc(ids_n + 1ul, sizeof *t->position);
	t->marks = calloc(ids_n / 64 + 1, sizeof *t->marks);
	t->counts = t->samples ? calloc(ids_n + 1ul, sizeof *t->counts) : NULL;
	return t->parent && t->position && t->marks && (t->counts || !t->samples) ? 0 : -ENOMEM;
}

/* Sizes of subtrees, by id, in place of positions. Gives that of all. */
static uint32_t find_sizes(struct dw_cct *t)
{
	uint32_t all = 0;

	for (uint32_t word = t->ids_n / 64 + 1; word--;) {
		uint64_t below = ~0ull, bits;

		/* Read again each time: a parent may be marked in the word at hand. */
		while ((bits = t->marks[word] & below)) {
			uint32_t bit = 63 - (uint32_t)__builtin_clzll(bits);
			uint32_t id = word * 64 + bit, parent = t->parent[id];

			below = (1ull << bit) - 1;
			t->position[id]++;
			if (parent == DWELL_CCT_NONE) {
				all += t->position[id];
				continue;
			}
			t->position[parent] += t->position[id];
			dw_cct_mark(t, parent);
		}
	}
	return all;
}

/* The samples that were counted for @id are what position @p has of its own. */
static inline void take_count(struct dw_cct *t, uint32_t id, uint32_t p)
{
	uint64_t *own = &t->common[(p + 1ul) * t->common_n];

	own[t->samples - 1] = t->counts[id];
	if (t->sample_ns)
		own[t->work - 1] = t->counts[id] * t->sample_ns;
	t->counts[id] = 0;
}

static void find_positions(struct dw_cct *t)
{
	uint32_t next = 0;

	for (uint32_t word = 0; word <= t->ids_n / 64; word++)
		for (uint64_t bits = t->marks[word]; bits; bits &= bits - 1) {
			uint32_t id = word * 64 + (uint32_t)__builtin_ctzll(bits);
			uint32_t parent = t->parent[id], size = t->position[id];
			/* Of those that had their turn: where their next child goes. */
			uint32_t *at = parent == DWELL_CCT_NONE ? &next : &t->position[parent];

			t->position[id] = *at + 1;
			t->id[*at] = id;
			t->end[*at] = *at + size;
			if (t->counts)
				take_count(t, id, *at);
			*at += size;
		}
	for (uint32_t p = 0; p < t->n; p++)
		t->position[t->id[p]] = p;
}

/* Room for t->n positions without amounts. */
static int make_room(struct dw_cct *t)
{
	size_t n = t->n;

	if (n > t->room || !t->common) {
		free(t->id);
		free(t->end);
		free(t->about);
		free(t->common);
		free(t->rare_row);
		t->room = t->n;
		t->id = malloc((n + 1) * sizeof *t->id);
		t->end = malloc((n + 1) * sizeof *t->end);
		t->about = malloc((n + 1) * sizeof *t->about);
		t->common = malloc((n + 1) * t->common_n * sizeof *t->common + 1);
		t->rare_row = t->rare_n ? malloc((n + 1) * sizeof *t->rare_row) : NULL;
	}
	if (!t->id || !t->end || !t->about || !t->common || (t->rare_n && !t->rare_row))
		return -ENOMEM;
	memset(t->common, 0, (n + 1) * t->common_n * sizeof *t->common);
	if (t->rare_n)
		memset(t->rare_row, 0, (n + 1) * sizeof *t->rare_row);
	t->rare.n = 0;
	return 0;
}

int dw_cct_order(struct dw_cct *t)
{
	t->n = find_sizes(t);
	if (make_room(t))
		return -ENOMEM;
	find_positions(t);
	return 0;
}

static int add_rare(struct dw_cct *t, uint32_t p, const uint64_t *more)
{
	uint32_t *row = &t->rare_row[p + 1];

	if (!*row) {
		if (dw_vec_reserve(&t->rare, t->rare_n))
			return -ENOMEM;
		memset(t->rare.v + t->rare.n, 0, t->rare_n * sizeof *t->rare.v);
		t->rare.n += t->rare_n;
		*row = (uint32_t)(t->rare.n / t->rare_n);
	}
	for (unsigned k = 0; k < t->rare_n; k++)
		t->rare.v[(*row - 1) * (size_t)t->rare_n + k] += more[k];
	return 0;
}

int dw_cct_add(struct dw_cct *t, uint32_t id, const struct dw_amount *amount)
{
	uint32_t p = t->position[id];
	uint64_t *own = t->common + (p + 1ul) * t->common_n;

	for (unsigned k = 0; k < t->common_n; k++)
		own[k] += amount->v[k + 1];
	return amount->is_rare ? add_rare(t, p, amount->v + 1 + t->common_n) : 0;
}

/* Put the rare amounts in the order of positions and sum them up. */
static int sum_rare(struct dw_cct *t)
{
	size_t rows_n = t->rare.n / t->rare_n + 1, row = 0, n = t->rare_n;
	uint64_t *sums = calloc(rows_n * n, sizeof *sums);

	if (!sums)
		return -ENOMEM;
	for (uint32_t p = 0; p < t->n; p++) {
		uint32_t own = t->rare_row[p + 1];

		for (size_t k = 0; own && k < n; k++)
			sums[(row + 1) * n + k] = sums[row * n + k] + t->rare.v[(own - 1) * n + k];
		row += own != 0;
		t->rare_row[p + 1] = (uint32_t)row;
	}
	free(t->rare.v);
	t->rare.v = sums;
	t->rare.n = t->rare.cap = rows_n * n;
	return 0;
}

int dw_cct_sum(struct dw_cct *t)
{
	size_t n = t->common_n;

	for (size_t i = n; i < (t->n + 1ul) * n; i++)
		t->common[i] += t->common[i - n];
	return t->rare_n ? sum_rare(t) : 0;
}

bool dw_cct_has_own(const struct dw_cct *t, uint32_t p)
{
	const uint64_t *from = t->common + (size_t)p * t->common_n;

	for (unsigned k = 0; k < t->common_n; k++)
		if (from[k] != from[t->common_n + k])
			return true;
	return t->rare_n && t->rare_row[p] != t->rare_row[p + 1];
}

int dw_cct_add_rare(const struct dw_cct *t, uint32_t p, uint32_t end, struct dw_amounts *to,
		    uint32_t row, bool exclusive)
{
	const uint64_t *from = t->rare.v + t->rare_row[p] * (size_t)t->rare_n;
	const uint64_t *until = t->rare.v + t->rare_row[end] * (size_t)t->rare_n;
	struct dw_values *v = dw_amounts_rare(to, row);

	if (!v)
		return -ENOMEM;
	for (unsigned k = 0; k < t->rare_n; k++)
		*(exclusive ? &v[k].exclusive : &v[k].inclusive) += until[k] - from[k];
	return 0;
}

void dw_cct_clear(struct dw_cct *t)
{
	for (uint32_t word = 0; word <= t->ids_n / 64; word++) {
		for (uint64_t bits = t->marks[word]; bits; bits &= bits - 1)
			t->position[word * 64 + (uint32_t)__builtin_ctzll(bits)] = 0;
		t->marks[word] = 0;
	}
	t->n = 0;
}

void dw_cct_forget_ids(struct dw_cct *t)
{
	free(t->parent);
	free(t->position);
	free(t->marks);
	free(t->counts);
	t->parent = t->position = t->counts = NULL;
	t->marks = NULL;
}

void dw_cct_release(struct dw_cct *t)
{
	dw_cct_forget_ids(t);
	free(t->id);
	free(t->end);
	free(t->about);
	free(t->common);
	free(t->rare_row);
	dw_vec_release(&t->rare);
	*t = (struct dw_cct){0};
}
