/* Processes and threads by id; see process.h. */
#include "model/process.h"

#include <errno.h>

int dw_processes_add(struct dw_processes *t, const struct dw_process *row, uint32_t *ret)
{
	if (!t->rows.n && dw_vec_push(&t->rows, (struct dw_process){0}))
		return -ENOMEM;
	if (t->rows.n >= UINT32_MAX || dw_vec_push(&t->rows, *row))
		return -ENOMEM;
	*ret = (uint32_t)t->rows.n - 1;
	return 0;
}

struct dw_process *dw_processes_get(const struct dw_processes *t, uint32_t id)
{
	return id && id < t->rows.n ? &t->rows.v[id] : NULL;
}

uint32_t dw_processes_count(const struct dw_processes *t)
{
	return t->rows.n ? (uint32_t)t->rows.n - 1 : 0;
}

void dw_processes_release(struct dw_processes *t)
{
	dw_vec_release(&t->rows);
}

int dw_threads_add(struct dw_threads *t, const struct dw_thread *row, uint32_t *ret)
{
	if (!t->rows.n && dw_vec_push(&t->rows, (struct dw_thread){0}))
		return -ENOMEM;
	if (t->rows.n >= UINT32_MAX || dw_vec_push(&t->rows, *row))
		return -ENOMEM;
	*ret = (uint32_t)t->rows.n - 1;
	return 0;
}

struct dw_thread *dw_threads_get(const struct dw_threads *t, uint32_t id)
{
	return id && id < t->rows.n ? &t->rows.v[id] : NULL;
}

uint32_t dw_threads_count(const struct dw_threads *t)
{
	return t->rows.n ? (uint32_t)t->rows.n - 1 : 0;
}

void dw_threads_release(struct dw_threads *t)
{
	dw_vec_release(&t->rows);
}
