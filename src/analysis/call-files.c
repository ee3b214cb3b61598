/*
 * What was read and written, by file and function; see calls.h. A session has rows of single
 * threads, which are added up for each lane. When they came to be is not known, so in a range of
 * time there are none.
 */
#include "analysis/calls.h"

#include "base/map.h"

#include <errno.h>

struct files {
	const struct dw_call_nodes *nodes;
	struct dw_totals *ret;
	struct dw_pairs parts; /* (lane << 32 | file, function, for a file none): as totals */
};

/* No function. */
#define WHOLE_FILE ((uint64_t)UINT32_MAX)

/* The index of the total, made when it is new. -ENOMEM. */
static int64_t find(struct files *t, const struct dw_file_total *like, uint64_t function)
{
	uint64_t key = (uint64_t)like->lane << 32 | like->file;
	uint32_t id = dw_pairs_find(&t->parts, key, function);

	if (id)
		return id - 1;
	if (dw_vec_push(&t->ret->files, *like))
		return -ENOMEM;
	id = dw_pairs_add(&t->parts, key, function);
	return id ? (int64_t)id - 1 : -ENOMEM;
}

/* Whether @f passes, of @function. */
static bool passes(const struct dw_call_nodes *t, const struct dw_call_file *f, uint32_t function)
{
	const struct dw_filter *filter = t->filter;
	uint32_t module = dw_call_module_at(t, f->entry);

	if (f->thread >= t->lanes.threads_n || t->lanes.of[f->thread] == UINT32_MAX)
		return false;
	if (filter->modules &&
	    (!f->entry || module >= filter->modules_n || !filter->modules[module]))
		return false;
	return !filter->focus.function || function == filter->focus.function;
}

static int add(struct files *t, const struct dw_call_file *f)
{
	uint32_t function = dw_call_function_at(t->nodes, f->entry);
	struct dw_file_total total = {.parent = UINT32_MAX, .file = f->file};
	int64_t at;

	if (!passes(t->nodes, f, function))
		return 0;
	total.lane = t->nodes->lanes.of[f->thread];
	at = find(t, &total, WHOLE_FILE);
	if (at < 0)
		return -ENOMEM;
	dw_io_sums_add(&t->ret->files.v[at].sums, &f->sums);
	if (!f->file)
		return 0;
	total.parent = (uint32_t)at;
	total.function = function   ? function
			 : f->entry ? (uint32_t)DWELL_FUNCTION_UNKNOWN
				    : (uint32_t)DWELL_FUNCTION_ROOT;
	total.thread = f->entry ? 0 : f->thread;
	at = find(t, &total, f->entry ? function : WHOLE_FILE - 1);
	if (at < 0)
		return -ENOMEM;
	dw_io_sums_add(&t->ret->files.v[at].sums, &f->sums);
	return 0;
}

int dw_call_files_list(const struct dw_call_nodes *nodes, struct dw_totals *ret)
{
	struct files t = {.nodes = nodes, .ret = ret};
	int rc = 0;

	if (nodes->filter->from_ns || nodes->filter->to_ns)
		return 0;
	dw_vec_each(f, &nodes->profile->calls.files)
		rc = rc ? rc : add(&t, f);
	dw_pairs_release(&t.parts);
	return rc;
}
