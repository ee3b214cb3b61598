/* Frames, and rows by thread; see frame-table.h. Locations without frames have the number of the
 * next one. */
#include "export/frame-table.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

static int mark(struct dw_inline_frames *s, const struct dw_paths *p,
		const struct dw_sample_values *w)
{
	s->used = calloc(p->n ? p->n : 1, 1);
	s->first = calloc((size_t)s->locations + 1, sizeof *s->first);
	if (!s->used || !s->first)
		return -ENOMEM;
	dw_vec_each(row, &w->rows)
		s->used[row->path] = 1;
	for (uint32_t path = p->n; path-- > 1;)
		if (s->used[path] && dw_paths_parent(p, path))
			s->used[dw_paths_parent(p, path)] = 1;
	for (uint32_t path = 0; path < p->n; path++)
		if (s->used[path] && dw_paths_location(p, path) < s->locations)
			s->first[dw_paths_location(p, path)] = 1;
	return 0;
}

int dw_inline_frames_init(struct dw_inline_frames *s, const struct dw_paths *p,
			  const struct dw_sample_values *w)
{
	uint64_t n = 0;

	*s = (struct dw_inline_frames){.locations = dw_paths_locations(p)};
	if (mark(s, p, w))
		return -ENOMEM;
	for (uint32_t location = 0; location < s->locations; location++) {
		uint32_t lines = s->first[location] ? dw_paths_lines(p, location) : 0;

		s->first[location] = (uint32_t)n;
		n += lines;
	}
	s->first[s->locations] = s->n = (uint32_t)n;
	return n < UINT32_MAX ? 0 : -ENOMEM;
}

void dw_inline_frames_release(struct dw_inline_frames *s)
{
	free(s->first);
	free(s->used);
	*s = (struct dw_inline_frames){0};
}

void dw_inline_frames_each(const struct dw_inline_frames *s,
			   void (*fn)(void *ctx, uint32_t location, uint32_t i), void *ctx)
{
	for (uint32_t location = 0; location < s->locations; location++)
		for (uint32_t i = s->first[location + 1] - s->first[location]; i--;)
			fn(ctx, location, i);
}

int dw_export_threads_init(struct dw_export_threads *t, const struct dw_paths *p,
			   const struct dw_sample_values *w)
{
	*t = (struct dw_export_threads){.n = p->threads_n};
	t->first = malloc(t->n * sizeof *t->first);
	t->next = malloc((w->rows.n + 1) * sizeof *t->next);
	if (!t->first || !t->next)
		return -ENOMEM;
	for (uint32_t thread = 0; thread < t->n; thread++)
		t->first[thread] = DWELL_NO_ROW;
	for (size_t i = w->rows.n; i-- > 0;) {
		uint32_t thread = w->rows.v[i].thread;

		t->next[i] = t->first[thread];
		t->first[thread] = (uint32_t)i;
	}
	return 0;
}

const char *dw_export_thread_title(const struct dw_paths *p, uint32_t thread,
				   struct dw_buf *scratch)
{
	const struct dw_thread *t = dw_threads_get(&p->profile->threads, thread);
	const struct dw_process *process = dw_paths_process(p, thread);

	dw_buf_clear(scratch);
	if (process)
		dw_buf_printf(scratch, "%s (%" PRId32 ") ",
			      dw_strings_get(&p->profile->strings, process->name), process->pid);
	if (t)
		dw_buf_printf(scratch, "%s (%" PRId32 ")", dw_paths_thread_name(p, thread), t->tid);
	else
		dw_buf_puts(scratch, "[unknown]");
	return dw_buf_str(scratch);
}

void dw_export_threads_release(struct dw_export_threads *t)
{
	free(t->first);
	free(t->next);
	*t = (struct dw_export_threads){0};
}
