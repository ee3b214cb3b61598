/* The last stack of a thread; see walk.h. Stack pointers fall from the outermost frame on, so a
 * binary search finds one. A signal handler's own stack breaks that order: then a frame may not be
 * found, which costs time only. */
#include "collect/sampled/walk.h"

const struct dw_walk_frame *dw_walk_find(const struct dw_walk *w, uint64_t sp)
{
	size_t low = 0, high = w->frames.n;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (w->frames.v[middle].sp > sp)
			low = middle + 1;
		else
			high = middle;
	}
	return low < w->frames.n && w->frames.v[low].sp == sp ? &w->frames.v[low] : NULL;
}

void dw_walk_free(struct dw_walk *w)
{
	if (!w)
		return;
	dw_vec_release(&w->frames);
	free(w->memory);
	free(w);
}
