/*
 * What the summary says of programs, where a recording has several: how much each did, all
 * processes of one name together. A build is its compilers and assemblers, a pipeline its parts.
 * Where that says no more than that a compiler compiled, commands tell what. Of the titles that
 * servers give their processes, "postgres: checkpointer" and the like, the rest changes all the
 * time.
 */
#include "base/map.h"
#include "view/notes.h"

#include <errno.h>
#include <string.h>

enum {
	PROCESSES_MIN = 3,
	ROWS_MAX = 4,
	ROW_MIN_PCT = 1,
};

struct row {
	uint32_t name; /* in the notes' names */
	uint32_t processes;
	uint64_t work;
};

/* Programs or commands. */
struct rows {
	DW_VEC(struct row) rows;
	struct dw_map index; /* name -> index in rows + 1 */
};

/* The bytes of @name that tell processes apart: of a title its first two words. */
static size_t telling_bytes(const char *name)
{
	size_t first = strcspn(name, " ");

	if (!first || name[first - 1] != ':' || !name[first])
		return strlen(name);
	return first + 1 + strcspn(name + first + 1, " ");
}

static int add(struct dw_strings *names, struct rows *s, const char *text, uint64_t work)
{
	uint32_t name, at;

	if (dw_strings_add(names, text, telling_bytes(text), &name))
		return -ENOMEM;
	at = dw_map_get(&s->index, name);
	if (!at) {
		if (dw_vec_push(&s->rows, (struct row){.name = name}) ||
		    dw_map_put(&s->index, name, (uint32_t)s->rows.n))
			return -ENOMEM;
		at = (uint32_t)s->rows.n;
	}
	s->rows.v[at - 1].processes++;
	s->rows.v[at - 1].work += work;
	return 0;
}

static int gather(struct dw_notes *t, struct rows *programs, struct rows *commands)
{
	enum dw_measure work = dw_totals_work(t->totals);
	int rc = 0;

	dw_vec_each(row, &t->totals->processes) {
		const struct dw_process *p = dw_processes_get(&t->profile->processes, row->process);
		const struct dw_measured m = dw_totals_measured(t->totals, row->amounts);
		uint64_t own = dw_measured_get(&m, work, true);

		if (p && own && !rc)
			rc = add(&t->names, programs, dw_strings_get(&t->profile->strings, p->name),
				 own);
		if (p && own && !rc)
			rc = add(&t->names, commands,
				 dw_strings_get(&t->profile->strings,
						dw_process_command(t->profile, row->process)),
				 own);
	}
	return rc;
}

static size_t largest(const struct rows *s)
{
	size_t most = 0;

	for (size_t i = 1; i < s->rows.n; i++)
		if (s->rows.v[i].work > s->rows.v[most].work)
			most = i;
	return most;
}

/* The one that did most and was not told yet, whose work then becomes 0. */
static struct row take_next(struct rows *s)
{
	struct row *most = &s->rows.v[largest(s)], next = *most;

	most->work = 0;
	return next;
}

static void put_rows(struct dw_notes *t, struct rows *s, enum dw_sentence title)
{
	uint64_t all = t->totals->all[dw_totals_work(t->totals)];

	for (unsigned i = 0; s->rows.n > 1 && i < ROWS_MAX; i++) {
		struct row next = take_next(s);

		if (next.work < all / 100 * ROW_MIN_PCT || !next.work)
			break;
		if (i)
			dw_note(t, MORE, AND);
		else
			dw_note_by(t, SAYS, title);
		dw_note(t, MORE, PROGRAM, .name = {dw_strings_get(&t->names, next.name)},
			.n = {next.processes}, .share = {dw_share(next.work, all)});
		if (next.processes > 1)
			dw_note(t, MORE, OF_PROCESSES, .n = {next.processes});
	}
}

/* Whether commands tell apart what the program that did most was asked to do. */
static bool tell_more(const struct rows *commands, const struct rows *programs)
{
	return commands->rows.n > programs->rows.n &&
	       commands->rows.v[largest(commands)].work < programs->rows.v[largest(programs)].work;
}

void dw_notes_programs(struct dw_notes *t)
{
	struct rows programs = {0}, commands = {0};
	bool both;

	if (t->totals->processes.n >= PROCESSES_MIN && gather(t, &programs, &commands))
		t->failed = -ENOMEM;
	both = tell_more(&commands, &programs);
	put_rows(t, &programs, DWELL_SAYS_PROGRAMS);
	if (both)
		put_rows(t, &commands, DWELL_SAYS_COMMANDS);
	dw_vec_release(&programs.rows);
	dw_vec_release(&commands.rows);
	dw_map_release(&programs.index);
	dw_map_release(&commands.index);
}
