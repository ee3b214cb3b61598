/*
 * Code mappings; see space.h. A sorted array: mappings change rarely and number some hundreds,
 * while every frame of every sample looks one up.
 */
#include "unwind/space.h"

#include "base/vec.h"

#include <errno.h>
#include <string.h>

/* Index of the first range that ends after @addr. */
static size_t first_after(const struct dw_space *s, uint64_t addr)
{
	return dw_sorted_count(s->ranges.v, s->ranges.n, r, r->end <= addr);
}

/*
 * Put the @n pieces of @with in place of what lies in [@start, @end), keeping what sticks out on
 * both sides. Room for two more ranges is there.
 */
static void replace(struct dw_space *s, uint64_t start, uint64_t end,
		    const struct dw_space_range *with, size_t n)
{
	struct dw_space_range *v = s->ranges.v, piece[3];
	size_t at = first_after(s, start), behind = at, pieces = 0;

	if (at < s->ranges.n && v[at].start < start) {
		piece[pieces] = v[at];
		piece[pieces++].end = start;
	}
	if (n)
		piece[pieces++] = *with;
	while (behind < s->ranges.n && v[behind].start < end)
		behind++;
	if (behind > at && v[behind - 1].end > end) {
		piece[pieces] = v[behind - 1];
		piece[pieces++].start = end;
	}
	memmove(v + at + pieces, v + behind, (s->ranges.n - behind) * sizeof *v);
	memcpy(v + at, piece, pieces * sizeof *v);
	s->ranges.n = s->ranges.n - (behind - at) + pieces;
	s->last = 0;
}

int dw_space_map(struct dw_space *s, const struct dw_space_range *range)
{
	if (range->start >= range->end)
		return 0;
	if (dw_vec_reserve(&s->ranges, 2))
		return -ENOMEM;
	replace(s, range->start, range->end, range, 1);
	return 0;
}

int dw_space_unmap(struct dw_space *s, uint64_t start, uint64_t end)
{
	if (start >= end || !s->ranges.n)
		return 0;
	if (dw_vec_reserve(&s->ranges, 2))
		return -ENOMEM;
	replace(s, start, end, NULL, 0);
	return 0;
}

int dw_space_copy(struct dw_space *to, const struct dw_space *from)
{
	if (dw_vec_reserve(&to->ranges, from->ranges.n))
		return -ENOMEM;
	if (from->ranges.n)
		memcpy(to->ranges.v, from->ranges.v, from->ranges.n * sizeof *to->ranges.v);
	to->ranges.n = from->ranges.n;
	to->last = 0;
	return 0;
}

const struct dw_space_range *dw_space_find(struct dw_space *s, struct dw_avma avma)
{
	size_t i = s->last;

	if (i >= s->ranges.n || avma.v < s->ranges.v[i].start || avma.v >= s->ranges.v[i].end)
		i = first_after(s, avma.v);
	if (i >= s->ranges.n || avma.v < s->ranges.v[i].start)
		return NULL;
	s->last = i;
	return &s->ranges.v[i];
}

void dw_space_clear(struct dw_space *s)
{
	s->ranges.n = 0;
	s->last = 0;
}

void dw_space_release(struct dw_space *s)
{
	free(s->memos);
	s->memos = NULL;
	dw_vec_release(&s->ranges);
	s->last = 0;
}
