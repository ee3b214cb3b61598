/* Shares of paths; see drawn.h. */
#include "collect/calls/drawn.h"

#include "collect/calls/cell-lines.h"
#include "collect/calls/increments.h"

#include <errno.h>
#include <math.h>
#include <string.h>

static const struct dw_call_values nothing;

/* So many path samples must be expected of a stratum: of fewer it is chance whether there are any.
 */
enum { PATH_SAMPLES_MIN = 4 };

static uint64_t smaller(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

static uint64_t larger(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

static uint64_t less(uint64_t a, uint64_t b)
{
	return a > b ? a - b : 0;
}

static uint64_t part(uint64_t all, double share)
{
	return share < 1 ? smaller(all, (uint64_t)((double)all * share)) : all;
}

static struct dw_drawn_cell *cell_at(const struct dw_drawn_reader *r, uint32_t line)
{
	uint32_t i = dw_pairs_find(&r->cell_of, line, 0);

	return i ? &r->cells.v[i - 1] : NULL;
}

/* The thread that the record or cell at @line is of. */
static struct dw_drawn_thread *thread_of(const struct dw_drawn_reader *r, struct dw_call_lines *s,
					 uint32_t line)
{
	return &r->threads.v[dw_call_lines_thread(s, line) - s->threads.v];
}

/* The index of the function whose record is at @line, + 1. 0 = no memory. */
static uint32_t function_at(struct dw_drawn_reader *r, uint32_t line)
{
	uint32_t i = dw_pairs_add(&r->function_of, line, 0);

	if (!i || (i > r->functions.n &&
		   dw_vec_push(&r->functions, ((struct dw_drawn_function){.line = line}))))
		return 0;
	return i;
}

/* Note that path @i, new, is one of cell @cell, and leads to what that calls. */
static int link_path(struct dw_drawn_reader *r, const struct dw_call_lines *s,
		     struct dw_drawn_path path, uint32_t i, uint32_t cell)
{
	uint32_t to = function_at(r, dw_cell_lines_callee(s, path.cell)), by = to;
	struct dw_drawn_cell row = {.callee = to - 1};

	if (to && path.function) /* nobody calls a thread's root */
		by = function_at(r, dw_cell_lines_caller(s, path.cell));
	row.caller = by - 1;
	if (!to || !by || (cell > r->cells.n && dw_vec_push(&r->cells, row)))
		return -ENOMEM;
	path.next = r->cells.v[cell - 1].first;
	path.next_caller = r->functions.v[to - 1].first;
	if (dw_vec_push(&r->paths, path))
		return -ENOMEM;
	r->cells.v[cell - 1].first = r->functions.v[to - 1].first = i;
	return 0;
}

/* Note the paths that have come. */
static int add_paths(struct dw_drawn_reader *r, const struct dw_call_lines *s)
{
	int rc = 0;

	for (uint32_t i = (uint32_t)r->paths.n; i < s->drawn.n && !rc; i++) {
		const struct dw_call_drawn *drawn = &s->drawn.v[i];
		struct dw_drawn_path path = {.line = drawn->line, .cell = drawn->cell};
		uint32_t cell = dw_pairs_add(&r->cell_of, path.cell, 0);

		if (s->lines.v[path.cell].kind == DWELL_LINE_CELL_STATEMENT)
			path.function = drawn->parent;
		else
			path.function = drawn->parent ? i + 1 : 0;
		rc = cell ? link_path(r, s, path, i + 1, cell) : -ENOMEM;
	}
	return rc;
}

/* Let there be a row for each thread. */
static int add_threads(struct dw_drawn_reader *r, const struct dw_call_lines *s)
{
	while (r->threads.n < s->threads.n)
		if (dw_vec_push(&r->threads, ((struct dw_drawn_thread){0})))
			return -ENOMEM;
	return 0;
}

static uint64_t span(const struct dw_region_clock *clock, uint64_t now, uint64_t old)
{
	return now > old ? dw_region_clock_span(clock, (double)(now - old)) : 0;
}

static uint64_t increase(uint64_t now, uint64_t old)
{
	return now > old ? now - old : 0;
}

/* What the system did on the path that has changed from @old to @now. */
static struct dw_call_values system_of(const struct dw_tree_os *now, const struct dw_tree_os *old,
				       const struct dw_region_clock *clock)
{
	return (struct dw_call_values){
		.elapsed_ns = span(clock, now->ticks, old->ticks),
		.blocked_ns = span(clock, now->blocked_ticks, old->blocked_ticks),
		.ready_ns = span(clock, now->ready_ticks, old->ready_ticks),
		.os_cpu_ns = span(clock, now->cpu_ticks, old->cpu_ticks),
		.switches = dw_call_count_increase(now->switches, old->switches),
		.io_calls = dw_call_count_increase(now->io_calls, old->io_calls),
		.blocking_calls = dw_call_count_increase(now->blocking_calls, old->blocking_calls),
	};
}

/* Take what has changed of the path at @line, which others may be a part of. */
static void read_path(struct dw_drawn_reader *r, struct dw_call_lines *s, uint32_t line,
		      const struct dw_region_clock *clock)
{
	uint32_t i = s->lines.v[line].state - 1;
	struct dw_drawn_path *path = &r->paths.v[i];
	struct dw_drawn_thread *thread;
	struct dw_tree_drawn now, old;
	struct dw_call_values system;
	double more, lost;

	dw_call_lines_get(s, line, DWELL_DRAWN_LINES, &now);
	dw_call_lines_get_old(s, line, DWELL_DRAWN_LINES, &old);
	r->n += increase(now.n, old.n);
	if (!s->drawn.v[i].parent) /* between functions: the thread's root has that time */
		return;
	thread = thread_of(r, s, path->cell);
	more = (double)increase(now.ticks, old.ticks);
	lost = (double)increase(now.lost, old.lost);
	system = system_of(&now.os, &old.os, clock);
	path->more += more;
	path->lost += lost;
	dw_call_values_add(&path->values, &system);
	cell_at(r, path->cell)->more += more;
	thread->n += more > 0 ? (double)increase(now.n, old.n) : 0;
	thread->others.sampled += lost;
}

int dw_drawn_read(struct dw_drawn_reader *r, struct dw_call_lines *s,
		  const struct dw_region_clock *clock)
{
	int rc = add_threads(r, s);

	if (!rc)
		rc = add_paths(r, s);
	for (size_t i = 0, n = s->changes.n; i < n && !rc; i++)
		if (s->lines.v[s->changes.v[i].line].kind == DWELL_LINE_DRAWN)
			read_path(r, s, s->changes.v[i].line, clock);
	return rc;
}

/* Of calls and of the program's time, the system's part left out, move the @share that @all has
 * from @left, which is the less, to @to. */
static void take(struct dw_call_values *to, const struct dw_call_values *all, double share,
		 struct dw_call_values *left)
{
	struct dw_call_values v = {
		.application_ns = smaller(part(all->application_ns, share), left->application_ns),
		.calls = smaller(part(all->calls, share), left->calls),
		.overhead_ns = smaller(part(all->overhead_ns, share), left->overhead_ns),
	};
	uint64_t delimited = smaller(part(all->delimited_ns, share), v.application_ns);

	/* Both stay no less than their parts. */
	delimited = larger(delimited,
			   less(left->delimited_ns, left->application_ns - v.application_ns));
	v.delimited_ns = smaller(delimited, left->delimited_ns);
	v.elapsed_ns = v.application_ns;
	dw_call_values_add(to, &v);
	left->elapsed_ns -= v.elapsed_ns;
	left->application_ns -= v.application_ns;
	left->delimited_ns -= v.delimited_ns;
	left->overhead_ns -= v.overhead_ns;
	left->calls -= v.calls;
}

/* What of elapsed time is neither the program's nor known to be the system's. */
static uint64_t rest_of(const struct dw_call_values *v)
{
	return less(v->elapsed_ns, v->application_ns + v->blocked_ns + v->os_cpu_ns);
}

/* Move what the system did, as far as @left has it, to @to: @wanted. */
static void take_system(struct dw_call_values *to, const struct dw_call_values *wanted,
			struct dw_call_values *left)
{
	uint64_t rest = smaller(rest_of(wanted), rest_of(left));
	uint64_t most = less(left->elapsed_ns, left->application_ns);
	struct dw_call_values v = {0};

#define DWELL_TAKE(field)                              \
	v.field = smaller(wanted->field, left->field); \
	left->field -= v.field
	DWELL_TAKE(blocked_ns);
	DWELL_TAKE(ready_ns);
	DWELL_TAKE(os_cpu_ns);
	DWELL_TAKE(switches);
	DWELL_TAKE(io_calls);
	DWELL_TAKE(blocking_calls);
#undef DWELL_TAKE
	v.elapsed_ns = smaller(v.blocked_ns + v.os_cpu_ns + rest, most);
	left->elapsed_ns -= v.elapsed_ns;
	dw_call_values_add(to, &v);
}

/*
 * Lines are read while they are written, so a cell may have more of the program's time in a reading
 * than time, and less in the next: what is too much is owed to the calls of @caller until then.
 */
static struct dw_call_values balance(struct dw_drawn_function *caller, struct dw_call_values v)
{
	uint64_t application = v.application_ns + caller->owed,
		 delimited = v.delimited_ns + caller->owed_delimited;

	v.application_ns = smaller(application, v.elapsed_ns);
	v.delimited_ns = smaller(delimited, v.application_ns);
	caller->owed = application - v.application_ns;
	caller->owed_delimited = delimited - v.delimited_ns;
	return v;
}

/* Share what the cell has by how often its paths were found before. */
static void share_as_before(struct dw_drawn_reader *r, const struct dw_drawn_cell *cell,
			    struct dw_call_values *left)
{
	const struct dw_call_values all = *left;

	for (uint32_t i = cell->first; i; i = r->paths.v[i - 1].next) {
		struct dw_drawn_path *path = &r->paths.v[i - 1];

		take(&path->given, &all, path->ticks / cell->ticks, left);
	}
}

/* Keep what the cell, which was found, has of @v, but for what the system did. */
static void put_off(struct dw_drawn_cell *cell, struct dw_call_values *v)
{
	cell->own.application_ns = v->application_ns;
	cell->own.delimited_ns = v->delimited_ns;
	cell->calls = v->calls;
	cell->overhead_ns = v->overhead_ns;
	v->elapsed_ns -= v->application_ns;
	v->application_ns = v->delimited_ns = v->calls = v->overhead_ns = 0;
}

/* Likewise the time of one that was not found: its calls stay. */
static void pool(struct dw_drawn_function *callee, struct dw_call_values *v)
{
	callee->others.application_ns += v->application_ns;
	callee->others.delimited_ns += v->delimited_ns;
	v->elapsed_ns -= v->application_ns;
	v->application_ns = v->delimited_ns = 0;
}

int dw_drawn_share(struct dw_drawn_reader *r, struct dw_call_lines *s, uint32_t line,
		   const struct dw_call_values *values)
{
	uint32_t by = function_at(r, dw_cell_lines_caller(s, line));
	uint32_t to = by ? function_at(r, dw_cell_lines_callee(s, line)) : 0;
	struct dw_drawn_cell *cell = cell_at(r, line);
	struct dw_drawn_thread *thread = thread_of(r, s, line);
	struct dw_call_values left;

	if (!to)
		return -ENOMEM;
	left = balance(&r->functions.v[by - 1], *values);
	thread->application_ns += left.application_ns;
	for (uint32_t i = cell ? cell->first : 0; i; i = r->paths.v[i - 1].next)
		take_system(&r->paths.v[i - 1].given, &r->paths.v[i - 1].values, &left);
	if (cell && cell->more > 0)
		put_off(cell, &left);
	else if (thread->n > 0)
		pool(&r->functions.v[to - 1], &left);
	else if (cell && cell->ticks > 0)
		share_as_before(r, cell, &left);
	dw_call_values_add(&r->functions.v[by - 1].left, &left);
	return 0;
}

/* Whether path samples of @t find @s often enough. */
static bool is_enough(const struct dw_drawn_stratum *s, const struct dw_drawn_thread *t)
{
	return s->sampled > 0 &&
	       (double)s->application_ns * t->n >= PATH_SAMPLES_MIN * (double)t->application_ns;
}

static void add_stratum(struct dw_drawn_stratum *to, const struct dw_drawn_stratum *s)
{
	to->application_ns += s->application_ns;
	to->delimited_ns += s->delimited_ns;
	to->sampled += s->sampled;
}

/* Make strata: of a cell, of what else has its callee, of what else has its thread. */
static void make_strata(struct dw_drawn_reader *r, struct dw_call_lines *s)
{
	dw_vec_each(cell, &r->cells) {
		struct dw_drawn_function *callee = &r->functions.v[cell->callee];

		if (cell->more <= 0)
			continue;
		cell->own.sampled = cell->left_sampled = cell->more;
		cell->is_apart = is_enough(&cell->own, thread_of(r, s, callee->line));
		if (!cell->is_apart)
			add_stratum(&callee->others, &cell->own);
	}
	dw_vec_each(f, &r->functions) {
		struct dw_drawn_thread *thread = thread_of(r, s, f->line);

		f->is_apart = is_enough(&f->others, thread);
		f->left_others = f->others;
		if (!f->is_apart)
			add_stratum(&thread->others, &f->others);
	}
}

/* Take the part of @s that @sampled ticks of its path samples stand for. */
static struct dw_call_values take_part(struct dw_drawn_stratum *s, double sampled)
{
	double share = sampled < s->sampled ? sampled / s->sampled : 1;
	struct dw_call_values v = {.application_ns = part(s->application_ns, share),
				   .delimited_ns = part(s->delimited_ns, share)};

	v.elapsed_ns = v.application_ns;
	s->application_ns -= v.application_ns;
	s->delimited_ns -= v.delimited_ns;
	s->sampled -= sampled;
	return v;
}

/* What of the time @all its function has no room for, which is taken off it. */
static struct dw_call_values take_rest(struct dw_call_values *all,
				       const struct dw_call_values *most)
{
	struct dw_call_values rest = {
		.elapsed_ns = less(all->application_ns, most->application_ns),
		.application_ns = less(all->application_ns, most->application_ns),
		.delimited_ns = less(all->delimited_ns, most->delimited_ns),
	};

	/* Both stay no less than their parts. */
	rest.delimited_ns = smaller(rest.delimited_ns, rest.application_ns);
	rest.delimited_ns =
		larger(rest.delimited_ns,
		       less(all->delimited_ns, all->application_ns - rest.application_ns));
	all->elapsed_ns -= rest.elapsed_ns;
	all->application_ns -= rest.application_ns;
	all->delimited_ns -= rest.delimited_ns;
	return rest;
}

/* Let @path have its part of the calls of its cell. */
static void give_calls(struct dw_drawn_path *path, struct dw_drawn_cell *cell)
{
	double share = path->more < cell->left_sampled ? path->more / cell->left_sampled : 1;
	struct dw_call_values v = {.calls = part(cell->calls, share),
				   .overhead_ns = part(cell->overhead_ns, share)};

	cell->calls -= v.calls;
	cell->overhead_ns -= v.overhead_ns;
	cell->left_sampled -= path->more;
	dw_call_values_add(&path->given, &v);
}

/* Where what calls at the end of path @i have of no known path is added up. */
static struct dw_call_values *rest_at(struct dw_drawn_reader *r, struct dw_call_lines *s,
				      uint32_t i)
{
	uint32_t function = r->paths.v[i].function;

	return function ? &r->paths.v[function - 1].rest
			: &dw_call_lines_thread(s, r->paths.v[i].cell)->cells;
}

/* Give what the path samples of this reading stand for that found path @i. */
static void give_sampled(struct dw_drawn_reader *r, struct dw_call_lines *s, uint32_t i)
{
	struct dw_drawn_path *path = &r->paths.v[i];
	struct dw_drawn_cell *cell = cell_at(r, path->cell);
	struct dw_drawn_function *callee = &r->functions.v[cell->callee];
	struct dw_call_values all, most, rest;

	if (cell->is_apart) {
		all = take_part(&cell->own, path->more);
	} else if (callee->is_apart) {
		all = take_part(&callee->others, path->more);
	} else {
		all = take_part(&thread_of(r, s, path->cell)->others, path->more);
		most = take_part(&callee->left_others, path->more);
		rest = take_rest(&all, &most);
		dw_call_values_add(rest_at(r, s, s->drawn.v[i].parent - 1), &rest);
	}
	dw_call_values_add(&path->given, &all);
	give_calls(path, cell);
}

/* Likewise what those stand for that found no room beyond it. */
static void give_lost(struct dw_drawn_reader *r, struct dw_call_lines *s, uint32_t i)
{
	struct dw_drawn_thread *thread = thread_of(r, s, r->paths.v[i].cell);
	struct dw_call_values all = take_part(&thread->others, r->paths.v[i].lost);

	dw_call_values_add(rest_at(r, s, i), &all);
}

/*
 * Divide what calls by @caller have of no known path among the paths to it: as these were found in
 * this reading, with all below them, or before, where none was.
 */
static void share_left(struct dw_drawn_reader *r, struct dw_call_lines *s,
		       struct dw_drawn_function *caller)
{
	struct dw_call_values *left = &caller->left, wanted;
	const struct dw_call_values all = *left;
	double below = 0, more = 0;

	if (!memcmp(&all, &nothing, sizeof nothing))
		return;
	for (uint32_t i = caller->first; i; i = r->paths.v[i - 1].next_caller) {
		below += r->paths.v[i - 1].below;
		more += r->paths.v[i - 1].below_more;
	}
	for (uint32_t i = below + more > 0 ? caller->first : 0; i;
	     i = r->paths.v[i - 1].next_caller) {
		const struct dw_drawn_path *path = &r->paths.v[i - 1];
		struct dw_call_values *rest = rest_at(r, s, i - 1);
		double share = more > 0 ? path->below_more / more : path->below / below;

		wanted = (struct dw_call_values){
			.elapsed_ns = part(less(all.elapsed_ns, all.application_ns), share),
			.blocked_ns = part(all.blocked_ns, share),
			.ready_ns = part(all.ready_ns, share),
			.os_cpu_ns = part(all.os_cpu_ns, share),
			.switches = part(all.switches, share),
			.io_calls = part(all.io_calls, share),
			.blocking_calls = part(all.blocking_calls, share),
		};
		take_system(rest, &wanted, left);
		take(rest, &all, share, left);
	}
	dw_call_values_add(&dw_call_lines_thread(s, caller->line)->cells, left);
	*left = (struct dw_call_values){0};
}

/* Find out which paths lead to what was found in this reading. Their beginnings stand before them.
 */
static void sum_below(struct dw_drawn_reader *r, const struct dw_call_lines *s)
{
	for (size_t i = r->paths.n; i; i--) {
		struct dw_drawn_path *path = &r->paths.v[i - 1];
		uint32_t parent = s->drawn.v[i - 1].parent;

		path->below_more += path->more + path->lost;
		if (parent)
			r->paths.v[parent - 1].below_more += path->below_more;
	}
}

/* Let each path have what it was found for, and the rest hang below callers. */
static void divide(struct dw_drawn_reader *r, struct dw_call_lines *s)
{
	sum_below(r, s);
	make_strata(r, s);
	for (uint32_t i = 0; i < r->paths.n; i++) {
		if (r->paths.v[i].more > 0)
			give_sampled(r, s, i);
		if (r->paths.v[i].lost > 0)
			give_lost(r, s, i);
	}
	dw_vec_each(f, &r->functions)
		share_left(r, s, f);
	/* What no path sample was there for. */
	for (size_t i = 0; i < r->threads.n; i++) {
		struct dw_call_values all = take_part(&r->threads.v[i].others, HUGE_VAL);

		dw_call_values_add(&s->threads.v[i].cells, &all);
	}
}

/* Let @path have a node for what calls from there have of no known path, if they have any. */
static int make_rest(struct dw_call_lines *s, struct dw_drawn_path *path)
{
	struct dw_call_node row = {.thread = dw_call_lines_thread(s, path->cell)->id,
				   .parent = s->lines.v[path->line].id,
				   .flags = DWELL_CALL_TRUNCATED};

	if (path->rest_node || !memcmp(&path->rest, &nothing, sizeof nothing))
		return 0;
	return dw_calls_add(&s->p->calls, &row, &path->rest_node);
}

/* This reading is over. */
static void end_reading(struct dw_drawn_reader *r)
{
	dw_vec_each(path, &r->paths) {
		path->ticks += path->more;
		path->below += path->below_more;
		path->more = path->lost = path->below_more = 0;
		path->values = path->given = path->rest = (struct dw_call_values){0};
	}
	dw_vec_each(cell, &r->cells) {
		cell->ticks += cell->more;
		cell->more = 0;
		cell->own = (struct dw_drawn_stratum){0};
		cell->calls = cell->overhead_ns = 0;
	}
	dw_vec_each(f, &r->functions)
		f->others = f->left_others = (struct dw_drawn_stratum){0};
	dw_vec_each(thread, &r->threads)
		*thread = (struct dw_drawn_thread){0};
}

int dw_drawn_give(struct dw_drawn_reader *r, struct dw_call_lines *s,
		  const struct dw_region_reading *now)
{
	divide(r, s);
	dw_vec_each(path, &r->paths) {
		if (dw_deltas_give(s->p, s->lines.v[path->line].id, &path->given, now) ||
		    make_rest(s, path) || dw_deltas_give(s->p, path->rest_node, &path->rest, now))
			return -ENOMEM;
	}
	end_reading(r);
	return 0;
}

void dw_drawn_release(struct dw_drawn_reader *r)
{
	dw_vec_release(&r->paths);
	dw_vec_release(&r->cells);
	dw_vec_release(&r->functions);
	dw_vec_release(&r->threads);
	dw_pairs_release(&r->cell_of);
	dw_pairs_release(&r->function_of);
}
