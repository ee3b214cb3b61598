/*
 * Spans; see spans.h. They come in runs that are sorted, one for each part of the heap: runs are
 * merged until there is one.
 */
#include "agent/clr/spans.h"

#include "agent/core/agent.h"
#include "agent/core/memory.h"
#include "agent/core/syscall-x86-64.h"

#include <stddef.h>

enum { ROOM_MIN = 1 << 16, KEPT = 1 << 17 };

bool dw_spans_start(struct dw_spans *s, uint32_t room)
{
	for (s->room = room; s->room >= ROOM_MIN; s->room /= 2) {
		s->v = dw_agent_memory((uint64_t)s->room * 2 * sizeof(*s->v));
		if (!s->v)
			continue;
		s->spare = s->v + s->room;
		return true;
	}
	return false;
}

struct dw_span *dw_spans_add(struct dw_spans *s, uint32_t n)
{
	uint32_t at = __atomic_load_n(&s->n, __ATOMIC_RELAXED);

	do {
		if (at > s->room || n > s->room - at) {
			__atomic_store_n(&s->n, UINT32_MAX, __ATOMIC_RELAXED);
			return NULL;
		}
	} while (!__atomic_compare_exchange_n(&s->n, &at, at + n, false, __ATOMIC_RELAXED,
					      __ATOMIC_RELAXED));
	return s->v + at;
}

void dw_spans_clear(struct dw_spans *s)
{
	struct dw_span *first = s->v < s->spare ? s->v : s->spare;
	uint64_t bytes = (uint64_t)s->room * 2 * sizeof(*first);

	if (s->n > KEPT && dw_agent_may_call())
		dw_syscall(SYS_madvise, first, bytes, MADV_DONTNEED);
	s->n = 0;
}

/* Where the sorted run from @from on ends. */
static uint32_t run_end(const struct dw_span *v, uint32_t from, uint32_t n)
{
	uint32_t i = from + 1;

	while (i < n && v[i].start >= v[i - 1].start)
		i++;
	return i < n ? i : n;
}

/* Merge [a, b) and [b, c) of @v to the same place of @to. */
static void merge(const struct dw_span *v, struct dw_span *to, uint32_t a, uint32_t b, uint32_t c)
{
	uint32_t left = a, right = b;

	for (uint32_t i = a; i < c; i++) {
		bool is_left = right == c || (left < b && v[left].start <= v[right].start);

		to[i] = is_left ? v[left++] : v[right++];
	}
}

void dw_spans_sort(struct dw_spans *s)
{
	struct dw_span *swap;
	uint32_t runs, middle, end;

	s->hint = 0;
	if (s->n > s->room || !s->n || run_end(s->v, 0, s->n) == s->n)
		return;
	do {
		runs = 0;
		for (uint32_t at = 0; at < s->n; at = end) {
			middle = run_end(s->v, at, s->n);
			end = middle < s->n ? run_end(s->v, middle, s->n) : middle;
			merge(s->v, s->spare, at, middle, end);
			runs++;
		}
		swap = s->v;
		s->v = s->spare;
		s->spare = swap;
	} while (runs > 1);
}

const struct dw_span *dw_spans_find(struct dw_spans *s, uint64_t address)
{
	const struct dw_span *hint = s->v + s->hint;
	uint32_t low = 0, high = s->n;

	if (s->hint < s->n && address - hint->start < hint->bytes)
		return hint;
	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (s->v[middle].start <= address)
			low = middle + 1;
		else
			high = middle;
	}
	if (!low || address - s->v[low - 1].start >= s->v[low - 1].bytes)
		return NULL;
	s->hint = low - 1;
	return s->v + s->hint;
}
