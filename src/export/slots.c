/* Slots; see slots.h. Places without any have the number of the next one. */
#include "export/slots.h"

#include <errno.h>
#include <stdlib.h>

static int mark(struct dw_slots *s, const struct dw_paths *p, const struct dw_weights *w)
{
	s->used = calloc(p->n ? p->n : 1, 1);
	s->first = calloc((size_t)s->places + 1, sizeof *s->first);
	if (!s->used || !s->first)
		return -ENOMEM;
	dw_vec_each(row, &w->rows)
		s->used[row->path] = 1;
	for (uint32_t path = p->n; path-- > 1;)
		if (s->used[path] && dw_paths_parent(p, path))
			s->used[dw_paths_parent(p, path)] = 1;
	for (uint32_t path = 0; path < p->n; path++)
		if (s->used[path] && dw_paths_place(p, path) < s->places)
			s->first[dw_paths_place(p, path)] = 1;
	return 0;
}

int dw_slots_init(struct dw_slots *s, const struct dw_paths *p, const struct dw_weights *w)
{
	uint64_t n = 0;

	*s = (struct dw_slots){.places = dw_paths_places(p)};
	if (mark(s, p, w))
		return -ENOMEM;
	for (uint32_t place = 0; place < s->places; place++) {
		uint32_t lines = s->first[place] ? dw_paths_lines(p, place) : 0;

		s->first[place] = (uint32_t)n;
		n += lines;
	}
	s->first[s->places] = s->n = (uint32_t)n;
	return n < UINT32_MAX ? 0 : -ENOMEM;
}

void dw_slots_release(struct dw_slots *s)
{
	free(s->first);
	free(s->used);
	*s = (struct dw_slots){0};
}

void dw_slots_each(const struct dw_slots *s, void (*fn)(void *ctx, uint32_t place, uint32_t i),
		   void *ctx)
{
	for (uint32_t place = 0; place < s->places; place++)
		for (uint32_t i = s->first[place + 1] - s->first[place]; i--;)
			fn(ctx, place, i);
}
