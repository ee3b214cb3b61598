/*
 * The instructions view of one function: all its instructions by address, for each process that ran
 * it, those that were never seen too. Where the session does not hold the function's code, those
 * that were seen.
 */
#include "analysis/disassembly.h"
#include "analysis/totals.h"
#include "view/column-groups.h"
#include "view/order.h"
#include "view/subject.h"
#include "view/views.h"

#include <errno.h>
#include <stdlib.h>

enum { NO_TOTAL = UINT32_MAX };

struct entry {
	uint32_t process;
	uint32_t total; /* index, or NO_TOTAL */
	uint64_t svma;
};

struct listing {
	struct dw_disassembly code;
	DW_VEC(struct entry) seen; /* of one process, by address */
	DW_VEC(struct entry) entries;
};

static int compare(const void *pa, const void *pb)
{
	const struct entry *a = pa, *b = pb;

	if (a->svma != b->svma)
		return a->svma < b->svma ? -1 : 1;
	return (a->total > b->total) - (a->total < b->total);
}

/* Whether the instruction at @svma of @module, whose innermost function is @innermost, is listed:
 * those of inlined functions are their outer function's, too. */
static bool is_listed(const struct dw_view *v, uint32_t module, uint64_t svma, uint32_t innermost)
{
	const struct listing *l = v->own;
	const struct dw_code_stretch *s = dw_disassembly_find(&l->code, module, svma);
	const struct dw_function *f =
		dw_functions_get(&v->request.profile->functions, v->request.function);

	if (innermost == v->request.function || (s && s->function == v->request.function))
		return true;
	return f && f->module == module && !(f->flags & DWELL_FUNCTION_INLINED) &&
	       svma >= f->svma && svma - f->svma < f->bytes;
}

static int list_seen(const struct dw_view *v, struct listing *l, uint32_t process)
{
	const struct dw_totals *t = v->request.totals;

	l->seen.n = 0;
	for (size_t i = 0; i < t->instructions.n; i++) {
		struct dw_row row = {0};

		if (t->instructions.v[i].process != process)
			continue;
		dw_subject_instruction(v, &t->instructions.v[i], &row);
		if (row.flags & DWELL_ROW_HAS_ADDRESS &&
		    is_listed(v, row.module, row.address, row.function) &&
		    dw_vec_push(&l->seen, ((struct entry){process, (uint32_t)i, row.address})))
			return -ENOMEM;
	}
	if (l->seen.n)
		qsort(l->seen.v, l->seen.n, sizeof *l->seen.v, compare);
	return 0;
}

/* All instructions of @s, from seen entry *@i on those that were seen. */
static int add_stretch(struct listing *l, const struct dw_code_stretch *s, uint32_t process,
		       size_t *i)
{
	for (uint64_t at = s->svma; at < s->end; at += dw_disassembly_step(s, at)) {
		struct entry e = {process, NO_TOTAL, at};

		while (*i < l->seen.n && l->seen.v[*i].svma < at)
			if (dw_vec_push(&l->entries, l->seen.v[(*i)++]))
				return -ENOMEM;
		if (*i < l->seen.n && l->seen.v[*i].svma == at)
			e.total = l->seen.v[(*i)++].total;
		if (dw_vec_push(&l->entries, e))
			return -ENOMEM;
	}
	return 0;
}

static int add_process(const struct dw_view *v, struct listing *l, uint32_t process)
{
	size_t i = 0;
	int rc = list_seen(v, l, process);

	dw_vec_each(s, &l->code.codes)
		if (!rc && s->function == v->request.function)
			rc = add_stretch(l, s, process, &i);
	while (!rc && i < l->seen.n)
		rc = dw_vec_push(&l->entries, l->seen.v[i++]);
	return rc;
}

static int open_listing(struct dw_view *v)
{
	struct listing *l = v->own = calloc(1, sizeof *l);
	int rc = l ? dw_disassembly_init(&l->code, v->request.profile) : -ENOMEM;

	dw_vec_each(total, &v->request.totals->functions)
		if (!rc && total->function == v->request.function)
			rc = add_process(v, l, total->process);
	if (!rc)
		rc = dw_order_all(v, l->entries.n);
	return rc || !v->request.sort ? rc : dw_order_sort(v, 0, v->n);
}

static void listing_row(const struct dw_view *v, uint32_t item, struct dw_buf *scratch,
			struct dw_row *ret)
{
	const struct listing *l = v->own;
	const struct entry *e = &l->entries.v[item];

	(void)scratch;
	ret->code = &l->code;
	if (e->total != NO_TOTAL) {
		dw_subject_instruction(v, &v->request.totals->instructions.v[e->total], ret);
		return;
	}
	dw_subject_function(v, e->process, v->request.function, ret);
	ret->name = DWELL_NAME_ADDRESS;
	ret->flags |= DWELL_ROW_HAS_ADDRESS | DWELL_ROW_UNSEEN;
	ret->address = e->svma;
}

static void release_listing(struct dw_view *v)
{
	struct listing *l = v->own;

	if (l) {
		dw_disassembly_release(&l->code);
		dw_vec_release(&l->seen);
		dw_vec_release(&l->entries);
	}
	free(l);
}

static const enum dw_column columns[] = {DWELL_COLUMNS_INSTRUCTION, DWELL_COLUMN_COUNTS,
					 DWELL_COLUMN_VALUES, DWELL_COLUMN_END};
static const enum dw_column defaults[] = {DWELL_COLUMN_DEFAULT_VALUES,
					  DWELL_COLUMN_INSTRUCTION_ADDRESS, DWELL_COLUMN_LINE_BEGIN,
					  DWELL_COLUMN_INSTRUCTION, DWELL_COLUMN_END};

const struct dw_view_ops dw_view_listing = {
	.name = "instructions",
	.parts = DWELL_TOTALS_INSTRUCTIONS | DWELL_TOTALS_FUNCTIONS,
	.columns = columns,
	.defaults = defaults,
	.sort = DWELL_COLUMN_INSTRUCTION_ADDRESS,
	.sites = DWELL_SITES_ALWAYS,
	.function = DWELL_FUNCTION_MUST,
	.open = open_listing,
	.row = listing_row,
	.release = release_listing,
};
