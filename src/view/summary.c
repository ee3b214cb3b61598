/*
 * The summary: the hot path, then the functions that do most work themselves; of allocations also
 * the types that most memory, and most objects, went to. For people it is told in notes around
 * these rows, whose parts of each method are in summary-*.c.
 */
#include "analysis/filter.h"
#include "analysis/prune.h"
#include "analysis/nameless.h"
#include "analysis/totals.h"
#include "view/notes.h"
#include "view/rows.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum {
	TYPE_LISTS = 3,
	PATH_ROWS_MAX = 5,    /* of the hot path, in notes */
	WHOLE_PERMILLE = 950, /* a longer one begins behind the callers that have so much of all */
	NEXT_NAME_MAX = 28,   /* bytes of a name that is proposed */
};

struct summary {
	struct dw_hot_path path;
	size_t end[DWELL_SECTIONS_N]; /* items: behind those of each section */
};

static int find_rows(const struct dw_view_request *r, struct summary *s)
{
	const struct dw_hot_rows *hot = r->totals->hot;
	size_t *end = s->end;

	if (dw_hot_path_find(r->totals, &s->path))
		return -ENOMEM;
	end[DWELL_SECTION_PATH] = s->path.nodes.n;
	end[DWELL_SECTION_FUNCTIONS] = end[DWELL_SECTION_PATH] + hot[DWELL_HOT_WORK].n;
	for (int i = 0; i < TYPE_LISTS; i++) {
		size_t *to = &end[DWELL_SECTION_TYPES_BY_BYTES + i];

		*to = to[-1] + hot[DWELL_HOT_TYPES_BYTES + i].n;
	}
	end[DWELL_SECTION_WAITING] = end[DWELL_SECTION_TYPES_BY_OLD] + hot[DWELL_HOT_WAITS].n;
	return 0;
}

static int open_summary(struct dw_view *v)
{
	struct summary *s = v->own = calloc(1, sizeof *s);
	int rc = s ? find_rows(&v->request, s) : -ENOMEM;

	return rc ? rc : dw_order_all(v, s->end[DWELL_SECTIONS_N - 1]);
}

static void function_row(const struct dw_view *v, enum dw_hot_list list, size_t i,
			 struct dw_row *ret)
{
	const struct dw_hot_row *f = &v->request.totals->hot[list].v[i];

	dw_row_set_function_total(v, &v->request.totals->functions.v[f->row], ret);
	ret->processes = f->processes;
}

static void type_row(const struct dw_view *v, enum dw_hot_list list, size_t i, struct dw_row *ret)
{
	const struct dw_hot_row *hot = &v->request.totals->hot[list].v[i];
	const struct dw_type_total *t = &v->request.totals->types.v[hot->row];

	dw_row_set_type(v, t->type, ret);
	dw_row_set_amounts(v, t->amounts, ret);
	ret->processes = hot->processes;
}

static void summary_row(const struct dw_view *v, uint32_t item, struct dw_buf *scratch,
			struct dw_row *ret)
{
	const struct summary *s = v->own;
	enum dw_section section = DWELL_SECTION_PATH;
	size_t i;

	(void)scratch;
	while (item >= s->end[section])
		section++;
	i = item - s->end[section - 1];
	if (section == DWELL_SECTION_PATH)
		dw_row_set_node(v, &v->request.totals->nodes.v[s->path.nodes.v[i]], ret);
	else if (section == DWELL_SECTION_FUNCTIONS)
		function_row(v, DWELL_HOT_WORK, i, ret);
	else if (section == DWELL_SECTION_WAITING)
		function_row(v, DWELL_HOT_WAITS, i, ret);
	else
		type_row(v, DWELL_HOT_TYPES_BYTES + section - DWELL_SECTION_TYPES_BY_BYTES, i, ret);
	ret->section = section;
}

static void release_summary(struct dw_view *v)
{
	struct summary *s = v->own;

	if (s)
		dw_hot_path_release(&s->path);
	free(s);
}

const char *dw_sentence_text(enum dw_sentence sentence)
{
#define TEXT(name, text)	       [DWELL_SAYS_##name] = (text),
#define TEXT_OF_FACT(name, fact, text) [DWELL_SAYS_##name] = (text),
	static const char *const texts[] = {DWELL_SENTENCES(TEXT, TEXT_OF_FACT)};

	return texts[sentence];
}

void dw_notes_add(struct dw_notes *t, struct dw_note note)
{
	note.is_detail = t->in_details;
	if (dw_vec_push(&t->rows, note))
		t->failed = -ENOMEM;
}

int64_t dw_notes_fact(const struct dw_notes *t, const char *key, int64_t otherwise)
{
	return dw_facts_get(&t->profile->facts, key, otherwise);
}

const char *dw_notes_word(const struct dw_notes *t, const char *key)
{
	return dw_facts_get_text(&t->profile->facts, key);
}

void dw_notes_facts(struct dw_notes *t, enum dw_sentence first, enum dw_sentence last)
{
#define NO_FACT(name, text)
#define FACT(name, fact, text) [DWELL_SAYS_##name] = (fact),
	static const char *const facts[] = {DWELL_SENTENCES(NO_FACT, FACT)};

	for (enum dw_sentence i = first; i <= last; i++) {
		int64_t n = dw_notes_fact(t, facts[i], 0);

		if (n > 0)
			dw_note_by(t, SAYS, i, .n = {n});
	}
}

struct dw_row dw_notes_row(struct dw_notes *t, size_t i)
{
	struct dw_row row;

	dw_view_row(t->view, i, &t->scratch, &row);
	return row;
}

void dw_notes_begin_size(struct dw_notes *t)
{
	const struct dw_filter *f = t->view->request.filter;
	int64_t duration = f && (f->from_ns || f->to_ns) ? -1 : dw_notes_fact(t, "duration_ns", -1);

	dw_note_by(t, SAYS, duration >= 0 ? DWELL_SAYS_DURATION : DWELL_SAYS_NONE, .n = {duration});
}

void dw_notes_end_size(struct dw_notes *t)
{
	uint64_t threads, processes;

	dw_notes_count_tasks(t, &threads, &processes);
	dw_note(t, MORE, TASKS, .n = {threads, processes});
}

static enum dw_sentence path_heading(const struct dw_notes *t)
{
	enum dw_method method = dw_profile_method(t->profile);

	if (method == DWELL_METHOD_SAMPLING)
		return DWELL_SAYS_PATH;
	return method == DWELL_METHOD_MEMORY ? DWELL_SAYS_PATH_OF_OBJECTS
					     : DWELL_SAYS_PATH_OF_CALLS;
}

/* A row of the hot path, and what makes it worth a line: what its caller has that it lacks, or its
 * own part, in thousandths of all. */
struct path_row {
	size_t item;
	uint64_t worth;
};

static uint64_t permille(uint64_t n, uint64_t all)
{
	return (uint64_t)(dw_share(n, all) * 10);
}

/* Choose rows of the hot path's @n to be told, in order: the last one and those of most worth, of
 * equal ones those next to the end. How many there are in @ret. */
static size_t choose_path(struct dw_notes *t, size_t n, struct path_row ret[static PATH_ROWS_MAX])
{
	enum dw_measure work = dw_totals_work(t->totals);
	uint64_t all = t->totals->all[work], caller = 0;
	size_t count = 0;

	for (size_t i = 0; i < n; i++) {
		struct dw_row row = dw_notes_row(t, i);
		uint64_t inclusive = dw_measured_get(&row.measured, work, false),
			 own = dw_measured_get(&row.measured, work, true),
			 parted = i && caller > inclusive ? caller - inclusive : 0;
		struct path_row next = {i, permille(own > parted ? own : parted, all)};
		size_t least = 0;

		caller = inclusive;
		if (n > PATH_ROWS_MAX && count && permille(inclusive, all) >= WHOLE_PERMILLE) {
			ret[0] = ret[count - 1];
			count = 1;
		}
		if (count == PATH_ROWS_MAX) {
			for (size_t j = 1; j < count; j++)
				if (ret[j].worth < ret[least].worth)
					least = j;
			if (i + 1 < n && next.worth < ret[least].worth)
				continue;
			memmove(&ret[least], &ret[least + 1], (--count - least) * sizeof *ret);
		}
		ret[count++] = next;
	}
	return count;
}

void dw_notes_path(struct dw_notes *t)
{
	enum dw_method method = dw_profile_method(t->profile);
	enum dw_measure work = dw_totals_work(t->totals);
	uint64_t all = t->totals->all[work];
	struct path_row rows[PATH_ROWS_MAX];
	size_t n = choose_path(t, t->end[DWELL_SECTION_PATH], rows);

	if (n)
		dw_note_by(t, HEADING, path_heading(t));
	for (size_t i = 0; i < n; i++) {
		struct dw_row row = dw_notes_row(t, rows[i].item);

		dw_note(t, PATH, NONE, .row = (uint32_t)rows[i].item,
			.n = {i, rows[i].item != (i ? rows[i - 1].item + 1 : 0)},
			.shares = method == DWELL_METHOD_SAMPLING ? 1 : 2,
			.share = {dw_share(dw_measured_get(&row.measured, work, false), all),
				  dw_share(dw_measured_get(&row.measured, work, true), all)});
	}
}

/* What became of asking servers for debug information. */
static void add_debuginfod(struct dw_notes *t)
{
	const char *state = dw_notes_word(t, "debuginfod");

	if (state && !strcmp(state, "no servers")) {
		dw_note(t, APART, NO_SERVERS);
	} else if (state && !strcmp(state, "no library")) {
		dw_note(t, APART, NO_LIBRARY);
	} else if (state) {
		dw_note(t, APART, FROM_SERVERS,
			.n = {dw_notes_fact(t, "debuginfod_found", 0),
			      dw_notes_fact(t, "debuginfod_modules", 0)});
		dw_notes_facts(t, DWELL_SAYS_SERVERS_LATE, DWELL_SAYS_SERVERS_WRONG);
	}
}

/* Whose functions have no names, and who has these. */
static void add_nameless_code(struct dw_notes *t)
{
	struct dw_nameless nameless;
	const char *packages = t->view->request.debug_packages;

	dw_nameless_find(t->profile, t->totals, &nameless);
	if (!nameless.n)
		return;
	for (unsigned i = 0; i < nameless.n; i++)
		dw_buf_printf(
			&t->nameless, "%s%s", i ? "," : "",
			dw_strings_get(
				&t->profile->strings,
				dw_modules_get(&t->profile->modules, nameless.modules[i])->name));
	dw_note(t, APART, NAMELESS_CODE, .name = {dw_buf_str(&t->nameless)},
		.share = {dw_share(nameless.exclusive, t->totals->all[dw_totals_work(t->totals)])});
	dw_note_by(t, MORE, packages ? DWELL_SAYS_IN_PACKAGES : DWELL_SAYS_IN_NO_PACKAGE,
		   .name = {packages});
}

/* What names the function with most work of its own to other views, if that is short and plain: to
 * t->busiest. NULL = it is not. */
static const char *busiest(struct dw_notes *t)
{
	static const char plain[] =
		"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_:.!-";
	size_t i = t->end[DWELL_SECTION_PATH];
	uint32_t function;

	if (i == t->end[DWELL_SECTION_FUNCTIONS])
		return NULL;
	function = dw_notes_row(t, i).function;
	if (!dw_functions_get(&t->profile->functions, function))
		return NULL;
	dw_function_word(t->profile, function, &t->busiest);
	return t->busiest.len <= NEXT_NAME_MAX &&
			       strspn(dw_buf_str(&t->busiest), plain) == t->busiest.len
		       ? dw_buf_str(&t->busiest)
		       : NULL;
}

/* Whether the hot path ends in the function that has most work of its own: its callers are told. */
static bool is_path_of_busiest(struct dw_notes *t)
{
	size_t n = t->end[DWELL_SECTION_PATH];
	uint32_t function = n ? dw_notes_row(t, n - 1).function : 0;

	return n < t->end[DWELL_SECTION_FUNCTIONS] && function &&
	       dw_notes_row(t, n).function == function;
}

static void add_next(struct dw_notes *t)
{
	const char *name = is_path_of_busiest(t) ? NULL : busiest(t);

	if (dw_profile_method(t->profile) == DWELL_METHOD_MEMORY)
		dw_note(t, NEXT, NEXT_OF_OBJECTS);
	else if (name)
		dw_note(t, NEXT, NEXT_OF, .name = {name});
	else
		dw_note(t, NEXT, NEXT);
	dw_note(t, MORE, OR_DETAILS);
	dw_note(t, MORE, NO_DETAILS);
}

int dw_notes_make(const struct dw_view *v, struct dw_notes *ret)
{
	enum dw_method method = dw_profile_method(v->request.profile);

	*ret = (struct dw_notes){
		.view = v, .profile = v->request.profile, .totals = v->request.totals};
	memcpy(ret->end, ((const struct summary *)v->own)->end, sizeof ret->end);
	dw_note(ret, TITLE, NONE, .name = {dw_notes_word(ret, "command")});
	dw_notes_filter(ret);
	if (method == DWELL_METHOD_INSTRUMENTATION)
		dw_notes_calls(ret);
	else if (method == DWELL_METHOD_MEMORY)
		dw_notes_memory(ret);
	else
		dw_notes_samples(ret);
	if (dw_notes_fact(ret, "merged", 0) > 1)
		dw_note(ret, APART, MERGED, .n = {dw_notes_fact(ret, "merged", 0)});
	add_nameless_code(ret);
	add_debuginfod(ret);
	if (v->request.folded) {
		ret->in_details = true;
		dw_note(ret, APART, SYSTEM_FOLDED);
		ret->in_details = false;
	}
	add_next(ret);
	return ret->failed;
}

void dw_notes_release(struct dw_notes *t)
{
	dw_vec_release(&t->rows);
	dw_buf_release(&t->scratch);
	dw_buf_release(&t->nameless);
	dw_buf_release(&t->busiest);
	dw_buf_release(&t->only);
	dw_strings_release(&t->names);
}

static const enum dw_column columns[] = {
	DWELL_COLUMN_SECTION,	DWELL_COLUMN_LEVEL,  DWELL_COLUMN_NAME,	  DWELL_COLUMN_MODULE_NAME,
	DWELL_COLUMN_PROCESSES, DWELL_COLUMN_COUNTS, DWELL_COLUMN_VALUES, DWELL_COLUMN_END};

const struct dw_view_ops dw_view_summary = {
	.name = "summary",
	.help = "the hot path and the functions that do most of the work",
	.parts = DWELL_TOTALS_NODES | DWELL_TOTALS_FUNCTIONS | DWELL_TOTALS_TASKS |
		 DWELL_TOTALS_SLOWEST | DWELL_TOTALS_EXTERNAL | DWELL_TOTALS_TYPES |
		 DWELL_TOTALS_GCS | DWELL_TOTALS_HOT | DWELL_TOTALS_WAITS | DWELL_TOTALS_FILES,
	.columns = columns,
	.defaults = columns,
	.is_of_my_code = true,
	.has_notes = true,
	.sort = DWELL_COLUMN_END,
	.open = open_summary,
	.row = summary_row,
	.release = release_summary,
};
