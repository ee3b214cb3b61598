/* Rows by thread; see threads.h. */
#include "export/threads.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

int dw_export_threads_init(struct dw_export_threads *t, const struct dw_paths *p,
			   const struct dw_weights *w)
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
