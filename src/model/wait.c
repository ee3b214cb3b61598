/* Waits; see wait.h. */
#include "model/wait.h"

uint64_t dw_wait_within(const struct dw_wait *w, uint64_t from_ns, uint64_t to_ns)
{
	uint64_t end = w->begin_ns + w->span_ns, begin = w->begin_ns;

	if (end < begin)
		end = UINT64_MAX;
	if (begin < from_ns)
		begin = from_ns;
	if (to_ns && end > to_ns)
		end = to_ns;
	if (end <= begin)
		return 0;
	if (end - begin >= w->span_ns)
		return w->blocked_ns;
	return (uint64_t)((unsigned __int128)w->blocked_ns * (end - begin) / w->span_ns);
}
