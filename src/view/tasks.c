/* The views of processes and of threads: all of them, those without samples too. */
#include "analysis/totals.h"
#include "view/column-groups.h"
#include "view/order.h"
#include "view/subject.h"
#include "view/views.h"

static int open_processes(struct dw_view *v)
{
	int rc = dw_order_all(v, v->request.totals->processes.n);

	return rc ? rc : dw_order_sort(v, 0, v->n);
}

static void process_row(const struct dw_view *v, uint32_t item, struct dw_buf *scratch,
			struct dw_row *ret)
{
	const struct dw_process_total *t = &v->request.totals->processes.v[item];

	(void)scratch;
	ret->name = DWELL_NAME_PROCESS;
	ret->process = t->process;
	dw_subject_amounts(v, t->amounts, ret);
}

static int open_threads(struct dw_view *v)
{
	int rc = dw_order_all(v, v->request.totals->threads.n);

	return rc ? rc : dw_order_sort(v, 0, v->n);
}

static void thread_row(const struct dw_view *v, uint32_t item, struct dw_buf *scratch,
		       struct dw_row *ret)
{
	const struct dw_thread_total *t = &v->request.totals->threads.v[item];
	const struct dw_thread *thread = dw_threads_get(&v->request.profile->threads, t->thread);

	(void)scratch;
	ret->name = DWELL_NAME_THREAD;
	ret->thread = t->thread;
	ret->process = thread ? thread->process : 0;
	dw_subject_amounts(v, t->amounts, ret);
}

static const enum dw_column process_columns[] = {
	DWELL_COLUMN_UNIQUE_ID, DWELL_COLUMN_ID,     DWELL_COLUMN_NAME,	  DWELL_COLUMN_BEGIN_TIME,
	DWELL_COLUMN_END_TIME,	DWELL_COLUMN_COUNTS, DWELL_COLUMN_VALUES, DWELL_COLUMN_END};
static const enum dw_column process_defaults[] = {
	DWELL_COLUMN_DEFAULT_OWN_VALUES, DWELL_COLUMN_ID,	DWELL_COLUMN_NAME,
	DWELL_COLUMN_BEGIN_TIME,	 DWELL_COLUMN_END_TIME, DWELL_COLUMN_END};
static const enum dw_column thread_columns[] = {
	DWELL_COLUMN_UNIQUE_ID,	   DWELL_COLUMN_ID,	     DWELL_COLUMN_NAME,
	DWELL_COLUMN_BEGIN_TIME,   DWELL_COLUMN_END_TIME,    DWELL_COLUMN_PROCESS_ID,
	DWELL_COLUMN_PROCESS_NAME, DWELL_COLUMN_THREAD_NAME, DWELL_COLUMN_COUNTS,
	DWELL_COLUMN_VALUES,	   DWELL_COLUMN_END};
static const enum dw_column thread_defaults[] = {
	DWELL_COLUMN_DEFAULT_OWN_VALUES, DWELL_COLUMN_ID,	    DWELL_COLUMN_NAME,
	DWELL_COLUMN_THREAD_NAME,	 DWELL_COLUMN_PROCESS_NAME, DWELL_COLUMN_BEGIN_TIME,
	DWELL_COLUMN_END_TIME,		 DWELL_COLUMN_END};

const struct dw_view_ops dw_view_processes = {
	.name = "processes",
	.help = "every process, those without samples too",
	.parts = DWELL_TOTALS_TASKS,
	.columns = process_columns,
	.defaults = process_defaults,
	.sort = DWELL_COLUMN_LEAD_EXCLUSIVE,
	.open = open_processes,
	.row = process_row,
};

const struct dw_view_ops dw_view_threads = {
	.name = "threads",
	.help = "every thread, those without samples too",
	.parts = DWELL_TOTALS_TASKS,
	.columns = thread_columns,
	.defaults = thread_defaults,
	.sort = DWELL_COLUMN_LEAD_EXCLUSIVE,
	.open = open_threads,
	.row = thread_row,
};
