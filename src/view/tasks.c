/* The views of processes and of threads: all of them, those without samples too. */
#include "analysis/totals.h"
#include "view/columns-of.h"
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
	dw_subject_values(v, t->values, t->calls, ret);
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
	dw_subject_values(v, t->values, t->calls, ret);
}

static const enum dw_column process_columns[] = {
	DWELL_COLUMN_UNIQUE_ID, DWELL_COLUMN_ID,       DWELL_COLUMN_NAME, DWELL_COLUMN_BEGIN_TIME,
	DWELL_COLUMN_END_TIME,	DWELL_COLUMNS_SAMPLES, DWELL_COLUMN_END};
static const enum dw_column thread_columns[] = {DWELL_COLUMN_UNIQUE_ID,	   DWELL_COLUMN_ID,
						DWELL_COLUMN_NAME,	   DWELL_COLUMN_BEGIN_TIME,
						DWELL_COLUMN_END_TIME,	   DWELL_COLUMN_PROCESS_ID,
						DWELL_COLUMN_PROCESS_NAME, DWELL_COLUMN_THREAD_NAME,
						DWELL_COLUMNS_SAMPLES,	   DWELL_COLUMN_END};
static const enum dw_column process_people[] = {DWELL_COLUMN_BLOCKED_EXCLUSIVE_PCT,
						DWELL_COLUMN_BLOCKED_EXCLUSIVE,
						DWELL_COLUMN_EXCLUSIVE_PCT,
						DWELL_COLUMN_EXCLUSIVE,
						DWELL_COLUMN_ID,
						DWELL_COLUMN_NAME,
						DWELL_COLUMN_BEGIN_TIME,
						DWELL_COLUMN_END_TIME,
						DWELL_COLUMN_END};
static const enum dw_column thread_people[] = {DWELL_COLUMN_BLOCKED_EXCLUSIVE_PCT,
					       DWELL_COLUMN_BLOCKED_EXCLUSIVE,
					       DWELL_COLUMN_EXCLUSIVE_PCT,
					       DWELL_COLUMN_EXCLUSIVE,
					       DWELL_COLUMN_ID,
					       DWELL_COLUMN_NAME,
					       DWELL_COLUMN_THREAD_NAME,
					       DWELL_COLUMN_PROCESS_NAME,
					       DWELL_COLUMN_BEGIN_TIME,
					       DWELL_COLUMN_END_TIME,
					       DWELL_COLUMN_END};
static const enum dw_column process_calls_columns[] = {
	DWELL_COLUMN_UNIQUE_ID, DWELL_COLUMN_ID,     DWELL_COLUMN_NAME,	  DWELL_COLUMN_BEGIN_TIME,
	DWELL_COLUMN_END_TIME,	DWELL_COLUMNS_CALLS, DWELL_COLUMNS_TIMES, DWELL_COLUMN_END};
static const enum dw_column thread_calls_columns[] = {
	DWELL_COLUMN_UNIQUE_ID,	   DWELL_COLUMN_ID,	     DWELL_COLUMN_NAME,
	DWELL_COLUMN_BEGIN_TIME,   DWELL_COLUMN_END_TIME,    DWELL_COLUMN_PROCESS_ID,
	DWELL_COLUMN_PROCESS_NAME, DWELL_COLUMN_THREAD_NAME, DWELL_COLUMNS_CALLS,
	DWELL_COLUMNS_TIMES,	   DWELL_COLUMN_END};
static const enum dw_column process_calls_people[] = {
	DWELL_COLUMNS_TASKS_PEOPLE, DWELL_COLUMN_ID,	   DWELL_COLUMN_NAME,
	DWELL_COLUMN_BEGIN_TIME,    DWELL_COLUMN_END_TIME, DWELL_COLUMN_END};
static const enum dw_column thread_calls_people[] = {
	DWELL_COLUMNS_TASKS_PEOPLE, DWELL_COLUMN_ID,	       DWELL_COLUMN_NAME,
	DWELL_COLUMN_THREAD_NAME,   DWELL_COLUMN_PROCESS_NAME, DWELL_COLUMN_BEGIN_TIME,
	DWELL_COLUMN_END_TIME,	    DWELL_COLUMN_END};
static const enum dw_column process_allocs_columns[] = {
	DWELL_COLUMN_UNIQUE_ID, DWELL_COLUMN_ID,      DWELL_COLUMN_NAME,  DWELL_COLUMN_BEGIN_TIME,
	DWELL_COLUMN_END_TIME,	DWELL_COLUMNS_ALLOCS, DWELL_COLUMNS_LIFE, DWELL_COLUMN_END};
static const enum dw_column thread_allocs_columns[] = {
	DWELL_COLUMN_UNIQUE_ID,	   DWELL_COLUMN_ID,	     DWELL_COLUMN_NAME,
	DWELL_COLUMN_BEGIN_TIME,   DWELL_COLUMN_END_TIME,    DWELL_COLUMN_PROCESS_ID,
	DWELL_COLUMN_PROCESS_NAME, DWELL_COLUMN_THREAD_NAME, DWELL_COLUMNS_ALLOCS,
	DWELL_COLUMNS_LIFE,	   DWELL_COLUMN_END};
static const enum dw_column process_allocs_people[] = {DWELL_COLUMN_BYTES_EXCLUSIVE_PCT,
						       DWELL_COLUMN_BYTES_EXCLUSIVE,
						       DWELL_COLUMN_ALLOCS_EXCLUSIVE,
						       DWELL_COLUMN_ID,
						       DWELL_COLUMN_NAME,
						       DWELL_COLUMN_BEGIN_TIME,
						       DWELL_COLUMN_END_TIME,
						       DWELL_COLUMN_END};
static const enum dw_column thread_allocs_people[] = {DWELL_COLUMN_BYTES_EXCLUSIVE_PCT,
						      DWELL_COLUMN_BYTES_EXCLUSIVE,
						      DWELL_COLUMN_ALLOCS_EXCLUSIVE,
						      DWELL_COLUMN_ID,
						      DWELL_COLUMN_NAME,
						      DWELL_COLUMN_THREAD_NAME,
						      DWELL_COLUMN_PROCESS_NAME,
						      DWELL_COLUMN_BEGIN_TIME,
						      DWELL_COLUMN_END_TIME,
						      DWELL_COLUMN_END};

const struct dw_view_ops dw_view_processes = {
	.name = "processes",
	.help = "every process, those without samples too",
	.samples = {DWELL_TOTALS_TASKS, process_columns, process_people, DWELL_COLUMN_EXCLUSIVE},
	.calls = {DWELL_TOTALS_TASKS, process_calls_columns, process_calls_people, DWELL_COLUMN_EE},
	.allocs = {DWELL_TOTALS_TASKS, process_allocs_columns, process_allocs_people,
		   DWELL_COLUMN_BYTES_EXCLUSIVE},
	.open = open_processes,
	.row = process_row,
};

const struct dw_view_ops dw_view_threads = {
	.name = "threads",
	.help = "every thread, those without samples too",
	.samples = {DWELL_TOTALS_TASKS, thread_columns, thread_people, DWELL_COLUMN_EXCLUSIVE},
	.calls = {DWELL_TOTALS_TASKS, thread_calls_columns, thread_calls_people, DWELL_COLUMN_EE},
	.allocs = {DWELL_TOTALS_TASKS, thread_allocs_columns, thread_allocs_people,
		   DWELL_COLUMN_BYTES_EXCLUSIVE},
	.open = open_threads,
	.row = thread_row,
};
