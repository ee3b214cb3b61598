/*
 * What the summary says it is about, where a filter leaves something out: what was chosen, and how
 * many threads and processes have anything of it. What is known of whole recordings only is left
 * out of its head then.
 */
#include "analysis/totals.h"
#include "view/notes.h"

#include <inttypes.h>

enum { NAMED_MAX = 2 }; /* of a kind; more are counted */

/* What was chosen of one kind. */
struct chosen {
	struct dw_notes *t;
	size_t n;     /* all of them */
	size_t named; /* so far */
	const char *one, *more;
};

bool dw_notes_is_part(const struct dw_notes *t)
{
	const struct dw_filter *f = t->view->request.filter;

	return f &&
	       (f->processes || f->threads || f->modules || f->types || f->from_ns || f->to_ns);
}

/* Say that @name is one of those, with its system id @id unless that is below 0. */
static void add_name(struct chosen *c, const char *name, int64_t id)
{
	struct dw_buf *to = &c->t->only;

	if (c->n > NAMED_MAX && c->named)
		return;
	dw_buf_printf(to, "%s", c->named || to->len ? ", " : "");
	if (c->n > NAMED_MAX)
		dw_buf_printf(to, "%zu %s", c->n, c->more);
	else if (id >= 0)
		dw_buf_printf(to, "%s %s (%" PRId64 ")", c->one, name, id);
	else
		dw_buf_printf(to, "%s %s", c->one, name);
	c->named++;
}

static void add_tasks(struct dw_notes *t, const struct dw_filter *f)
{
	const struct dw_profile *p = t->profile;
	struct chosen processes = {t, f->processes_n, 0, "process", "processes"};
	struct chosen threads = {t, f->threads_n, 0, "thread", "threads"};

	for (size_t i = 0; f->processes && i < f->processes_n; i++) {
		const struct dw_process *row = dw_processes_get(&p->processes, f->processes[i]);

		if (row)
			add_name(
				&processes,
				dw_strings_get(&p->strings, dw_process_command(p, f->processes[i])),
				row->pid);
	}
	for (size_t i = 0; f->threads && i < f->threads_n; i++) {
		const struct dw_thread *row = dw_threads_get(&p->threads, f->threads[i]);
		const struct dw_function *start =
			row ? dw_functions_get(&p->functions, row->start) : NULL;

		if (row)
			add_name(&threads,
				 dw_strings_get(&p->strings, start ? start->name : row->name),
				 row->tid);
	}
}

static size_t count_flags(const uint8_t *flags, size_t n)
{
	size_t count = 0;

	for (size_t i = 0; flags && i < n; i++)
		count += flags[i] != 0;
	return count;
}

static void add_things(struct dw_notes *t, const struct dw_filter *f)
{
	const struct dw_profile *p = t->profile;
	struct chosen modules = {t, count_flags(f->modules, f->modules_n), 0, "module", "modules"};
	/* Each process has its own; totals have one of those that are the same. */
	struct chosen types = {t, t->totals->types.n, 0, "type", "types"};

	for (uint32_t i = 0; f->modules && i < f->modules_n; i++) {
		const struct dw_module *m = dw_modules_get(&p->modules, i);

		if (f->modules[i] && m)
			add_name(&modules, dw_strings_get(&p->strings, m->name), -1);
	}
	for (size_t i = 0; f->types && i < types.n; i++) {
		uint32_t type = t->totals->types.v[i].type;

		add_name(&types, dw_strings_get(&p->strings, p->allocations.types.v[type - 1].name),
			 -1);
	}
}

/* The range, of slices where these are what was recorded. */
static void add_range(struct dw_notes *t, const struct dw_filter *f)
{
	bool by_slices = t->totals->to_ns;
	uint64_t from = by_slices ? t->totals->from_ns : f->from_ns,
		 to = by_slices ? t->totals->to_ns : f->to_ns;

	if (!f->from_ns && !f->to_ns)
		return;
	if (t->only.len)
		dw_note(t, MORE, AND);
	if (from && to)
		dw_note(t, MORE, FROM_TO, .n = {from, to});
	else
		dw_note_by(t, MORE, to ? DWELL_SAYS_TO : DWELL_SAYS_FROM, .n = {to ? to : from});
}

void dw_notes_filter(struct dw_notes *t)
{
	const struct dw_filter *f = t->view->request.filter;

	if (!dw_notes_is_part(t))
		return;
	add_tasks(t, f);
	add_things(t, f);
	dw_note(t, SAYS, ONLY, .name = {dw_buf_str(&t->only)});
	add_range(t, f);
	dw_note(t, MORE, FULL_STOP);
}

/* Whether the row @amounts has anything. */
static bool has_any(const struct dw_totals *t, uint32_t amounts)
{
	const struct dw_measured row = {.table = &t->amounts, .row = amounts};

	for (enum dw_measure m = 0; m < DWELL_MEASURES; m++)
		if (dw_measured_get(&row, m, false))
			return true;
	return false;
}

void dw_notes_count_tasks(const struct dw_notes *t, uint64_t *ret_threads, uint64_t *ret_processes)
{
	*ret_threads = dw_threads_count(&t->profile->threads);
	*ret_processes = dw_processes_count(&t->profile->processes);
	if (!dw_notes_is_part(t))
		return;
	*ret_threads = *ret_processes = 0;
	dw_vec_each(row, &t->totals->threads)
		*ret_threads += has_any(t->totals, row->amounts);
	dw_vec_each(row, &t->totals->processes)
		*ret_processes += has_any(t->totals, row->amounts);
}
