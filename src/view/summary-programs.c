/*
 * What the summary says of programs, where a recording has several: how much each did, all
 * processes of one name together. A build is its compilers and assemblers, a pipeline its parts.
 */
#include "base/map.h"
#include "view/notes.h"

#include <errno.h>

enum {
	PROCESSES_MIN = 3,
	PROGRAMS_MAX = 4,
	PROGRAM_MIN_PCT = 1,
};

struct program {
	uint32_t name; /* string */
	uint32_t processes;
	uint64_t work;
};

struct programs {
	DW_VEC(struct program) rows;
	struct dw_map index; /* name -> index in rows + 1 */
};

static int add(struct programs *s, const struct dw_process *p, uint64_t work)
{
	uint32_t at = dw_map_get(&s->index, p->name);

	if (!at) {
		if (dw_vec_push(&s->rows, (struct program){.name = p->name}) ||
		    dw_map_put(&s->index, p->name, (uint32_t)s->rows.n))
			return -ENOMEM;
		at = (uint32_t)s->rows.n;
	}
	s->rows.v[at - 1].processes++;
	s->rows.v[at - 1].work += work;
	return 0;
}

static int gather(const struct dw_notes *t, struct programs *s)
{
	enum dw_measure work = dw_totals_work(t->totals);
	int rc = 0;

	dw_vec_each(row, &t->totals->processes) {
		const struct dw_process *p = dw_processes_get(&t->profile->processes, row->process);
		const struct dw_measured m = dw_totals_measured(t->totals, row->amounts);
		uint64_t own = dw_measured_get(&m, work, true);

		if (p && own && !rc)
			rc = add(s, p, own);
	}
	return rc;
}

/* The one that did most and was not told yet, whose work then becomes 0. */
static struct program take_next(struct programs *s)
{
	size_t most = 0;
	struct program next;

	for (size_t i = 1; i < s->rows.n; i++)
		if (s->rows.v[i].work > s->rows.v[most].work)
			most = i;
	next = s->rows.v[most];
	s->rows.v[most].work = 0;
	return next;
}

void dw_notes_programs(struct dw_notes *t)
{
	uint64_t all = t->totals->all[dw_totals_work(t->totals)];
	struct programs s = {0};

	if (t->totals->processes.n >= PROCESSES_MIN && gather(t, &s))
		t->failed = -ENOMEM;
	for (unsigned i = 0; s.rows.n > 1 && i < PROGRAMS_MAX; i++) {
		struct program next = take_next(&s);

		if (next.work < all / 100 * PROGRAM_MIN_PCT || !next.work)
			break;
		if (i)
			dw_note(t, MORE, AND);
		else
			dw_note(t, SAYS, PROGRAMS);
		dw_note(t, MORE, PROGRAM, .name = {dw_strings_get(&t->profile->strings, next.name)},
			.n = {next.processes}, .share = {dw_share(next.work, all)});
		if (next.processes > 1)
			dw_note(t, MORE, OF_PROCESSES, .n = {next.processes});
	}
	dw_vec_release(&s.rows);
	dw_map_release(&s.index);
}
