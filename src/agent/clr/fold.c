/*
 * Folding; see fold.h. A frame that stands further out already takes the place of that one, if
 * nothing in between is lost: all calls on the way, the one to the frame too, happen further out.
 */
#include "agent/clr/fold.h"

#include <stdbool.h>

/* Whether @from calls @to within the first @n frames. */
static bool calls(const uint32_t *frames, uint32_t n, uint32_t from, uint32_t to)
{
	for (uint32_t i = 0; i + 1 < n; i++)
		if (frames[i] == from && frames[i + 1] == to)
			return true;
	return false;
}

/* Whether the first @n frames have all calls of those from @n - 1 to @end, and the one to @next. */
static bool is_covered(const uint32_t *frames, uint32_t n, uint32_t end, uint32_t next)
{
	for (uint32_t i = n - 1; i + 1 < end; i++)
		if (!calls(frames, n, frames[i], frames[i + 1]))
			return false;
	return calls(frames, n, frames[end - 1], next);
}

uint32_t dw_fold(uint32_t *frames, uint32_t n)
{
	uint32_t end = 0;

	for (uint32_t at = 0; at < n; at++) {
		uint32_t next = frames[at], i = 0;

		while (i < end && (frames[i] != next || !is_covered(frames, i + 1, end, next)))
			i++;
		frames[i] = next;
		end = i + 1;
	}
	return end;
}
