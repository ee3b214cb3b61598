/*
 * Rows in made code; see rows.h. Most runtimes set a frame pointer first and keep it, so all that
 * matters is whether a sample was taken before or after that. .NET has methods without one.
 */
#include "collect/jit/rows.h"

#include "target/memory.h"
#include "unwind/prolog.h"

enum { NEXT_BYTES = 32 };

static size_t at_most(uint64_t bytes, size_t room)
{
	return bytes < room ? (size_t)bytes : room;
}

static bool read_begin(const struct dw_jit_where *w, struct dw_jit_begin *begin)
{
	ssize_t n;

	if (begin->n)
		return true;
	n = dw_memory_read(w->pid, w->start, begin->bytes,
			   at_most(w->end - w->start, sizeof begin->bytes));
	begin->n = n > 0 ? (uint8_t)n : 0;
	return begin->n;
}

/* The bytes that are executed next. */
static size_t read_next(const struct dw_jit_where *w, uint8_t *ret)
{
	ssize_t n = dw_memory_read(w->pid, w->avma, ret, at_most(w->end - w->avma, NEXT_BYTES));

	return n > 0 ? (size_t)n : 0;
}

static void dotnet_row(const struct dw_jit_where *w, const struct dw_jit_begin *begin,
		       const uint8_t *next, size_t next_n, struct dw_cfi_row *ret)
{
	bool is_next = w->place == DWELL_PLACE_NEXT;

	if (is_next && dw_epilog_row(next, next_n, ret))
		return;
	*ret = dw_prolog_row(begin->bytes, begin->n, is_next ? w->avma - w->start : UINT64_MAX,
			     w->place == DWELL_PLACE_LEFT ? DWELL_BASE_STACK : DWELL_BASE_USUAL);
}

bool dw_jit_rows_find(const struct dw_jit_where *w, struct dw_jit_begin *begin,
		      struct dw_cfi_row *ret)
{
	bool is_next = w->place == DWELL_PLACE_NEXT;
	uint8_t next[NEXT_BYTES];
	size_t next_n;

	if (!is_next && !w->is_dotnet)
		return false;
	next_n = is_next ? read_next(w, next) : 0;
	if (!read_begin(w, begin))
		return false;
	if (!w->is_dotnet)
		return dw_framed_row((struct dw_code_bytes){begin->bytes, begin->n},
				     w->avma - w->start, (struct dw_code_bytes){next, next_n}, ret);
	dotnet_row(w, begin, next, next_n, ret);
	return true;
}
