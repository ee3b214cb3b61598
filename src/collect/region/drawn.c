/* Shares of paths; see drawn.h. */
#include "collect/region/drawn.h"

#include "collect/region/cell-lines.h"
#include "collect/region/deltas.h"

#include <errno.h>
#include <string.h>

static struct dw_drawn_cell *cell_at(const struct dw_drawn_reader *r, uint32_t line)
{
	uint32_t i = dw_pairs_find(&r->cell_of, line, 0);

	return i ? &r->cells.v[i - 1] : NULL;
}

/* The function whose record is at @line. NULL = no memory. */
static struct dw_drawn_caller *caller_at(struct dw_drawn_reader *r, uint32_t line)
{
	uint32_t i = dw_pairs_add(&r->caller_of, line, 0);

	if (!i || (i > r->callers.n &&
		   dw_vec_push(&r->callers, ((struct dw_drawn_caller){.line = line}))))
		return NULL;
	return &r->callers.v[i - 1];
}

/* Note that path @i, new, leads to the function at @function, and is one of cell @cell. */
static int link_path(struct dw_drawn_reader *r, struct dw_drawn_path path, uint32_t i,
		     uint32_t cell, uint32_t function)
{
	struct dw_drawn_caller *caller = caller_at(r, function);

	if (!caller || (cell > r->cells.n && dw_vec_push(&r->cells, (struct dw_drawn_cell){0})))
		return -ENOMEM;
	path.next = r->cells.v[cell - 1].first;
	path.next_caller = caller->first;
	if (dw_vec_push(&r->paths, path))
		return -ENOMEM;
	r->cells.v[cell - 1].first = caller->first = i;
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

		rc = cell ? link_path(r, path, i + 1, cell, dw_cell_lines_callee(s, path.cell))
			  : -ENOMEM;
	}
	return rc;
}

static uint64_t span(const struct dw_region_clock *clock, uint64_t now, uint64_t old)
{
	return now > old ? dw_region_clock_span(clock, (double)(now - old)) : 0;
}

static uint64_t rise(uint64_t now, uint64_t old)
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
		.os_cpu_ns = span(clock, now->cpu_ticks, old->cpu_ticks),
		.switches = rise(now->switches, old->switches),
		.io_calls = rise(now->io_calls, old->io_calls),
		.blocking_calls = rise(now->blocking_calls, old->blocking_calls),
	};
}

int dw_drawn_read(struct dw_drawn_reader *r, struct dw_call_lines *s,
		  const struct dw_region_clock *clock)
{
	int rc = add_paths(r, s);

	for (size_t i = 0, n = s->changes.n; i < n && !rc; i++) {
		uint32_t line = s->changes.v[i].line, at = s->lines.v[line].state;
		struct dw_tree_drawn now, old;
		struct dw_drawn_path *path;
		double more;

		if (s->lines.v[line].kind != DWELL_LINE_DRAWN)
			continue;
		path = &r->paths.v[at - 1];
		dw_call_lines_get(s, line, DWELL_DRAWN_LINES, &now);
		dw_call_lines_get_old(s, line, DWELL_DRAWN_LINES, &old);
		more = (double)rise(now.ticks, old.ticks);
		path->more += more;
		cell_at(r, path->cell)->more += more;
		path->values = system_of(&now.os, &old.os, clock);
		r->n += rise(now.n, old.n);
		for (; at && more > 0; at = s->drawn.v[at - 1].parent)
			r->paths.v[at - 1].below += more;
	}
	return rc;
}

static uint64_t part(uint64_t all, double share)
{
	return (uint64_t)((double)all * share);
}

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

/* What of elapsed time is neither the program's nor known to be the system's. */
static uint64_t rest_of(const struct dw_call_values *v)
{
	return less(v->elapsed_ns, v->application_ns + v->blocked_ns + v->os_cpu_ns);
}

/* Take @path's part off @left: what it has of the system's doings, and @share of the program's
 * @all. Both stay no less than their parts.
 */
static void take(struct dw_drawn_path *path, const struct dw_call_values *all, double share,
		 struct dw_call_values *left)
{
	struct dw_call_values *v = &path->values;
	uint64_t rest = smaller(rest_of(v), rest_of(left));
	uint64_t most = less(left->elapsed_ns, left->application_ns);
	struct dw_call_values mine;
	uint64_t whole;

#define DWELL_TAKE(field)                            \
	mine.field = smaller(v->field, left->field); \
	left->field -= mine.field
	v->application_ns = part(all->application_ns, share);
	v->overhead_ns = part(all->overhead_ns, share);
	v->calls = part(all->calls, share);
	DWELL_TAKE(application_ns);
	whole = smaller(part(all->whole_ns, share), mine.application_ns);
	v->whole_ns = larger(whole, less(left->whole_ns, left->application_ns));
	DWELL_TAKE(whole_ns);
	DWELL_TAKE(overhead_ns);
	DWELL_TAKE(calls);
	DWELL_TAKE(blocked_ns);
	DWELL_TAKE(os_cpu_ns);
	DWELL_TAKE(switches);
	DWELL_TAKE(io_calls);
	DWELL_TAKE(blocking_calls);
	v->elapsed_ns =
		mine.application_ns + smaller(mine.blocked_ns + mine.os_cpu_ns + rest, most);
	DWELL_TAKE(elapsed_ns);
#undef DWELL_TAKE
	*v = mine;
}

/*
 * Lines are read while they are written, so a cell may have more of the program's time in a reading
 * than time, and less in the next: what is too much is owed to the calls of @caller until then.
 */
static struct dw_call_values balance(struct dw_drawn_caller *caller, struct dw_call_values v)
{
	uint64_t application = v.application_ns + caller->owed,
		 whole = v.whole_ns + caller->owed_whole;

	v.application_ns = smaller(application, v.elapsed_ns);
	v.whole_ns = smaller(whole, v.application_ns);
	caller->owed = application - v.application_ns;
	caller->owed_whole = whole - v.whole_ns;
	return v;
}

int dw_drawn_share(struct dw_drawn_reader *r, const struct dw_call_lines *s, uint32_t line,
		   const struct dw_call_values *values)
{
	struct dw_drawn_caller *caller = caller_at(r, dw_cell_lines_caller(s, line));
	const struct dw_drawn_cell *cell = cell_at(r, line);
	struct dw_call_values all, left;

	if (!caller)
		return -ENOMEM;
	all = left = balance(caller, *values);
	for (uint32_t i = cell ? cell->first : 0; i; i = r->paths.v[i - 1].next) {
		struct dw_drawn_path *path = &r->paths.v[i - 1];
		double share = 0;

		if (cell->more > 0)
			share = path->more / cell->more;
		else if (cell->ticks > 0)
			share = path->ticks / cell->ticks;
		take(path, &all, share, &left);
	}
	dw_call_values_add(&caller->left, &left);
	return 0;
}

/* Divide what calls by @caller have of no known path among the paths to it. */
static void share_left(struct dw_drawn_reader *r, struct dw_call_lines *s,
		       struct dw_drawn_caller *caller)
{
	const struct dw_call_values all = caller->left;
	double below = 0;

	for (uint32_t i = caller->first; i; i = r->paths.v[i - 1].next_caller)
		below += r->paths.v[i - 1].below;
	for (uint32_t i = below > 0 ? caller->first : 0; i; i = r->paths.v[i - 1].next_caller) {
		struct dw_drawn_path *path = &r->paths.v[i - 1];
		struct dw_call_values own = path->values;

		/* As a path of its own that the system's doings are shared by as well. */
		path->values = (struct dw_call_values){
			.elapsed_ns =
				part(less(all.elapsed_ns, all.application_ns), path->below / below),
			.blocked_ns = part(all.blocked_ns, path->below / below),
			.os_cpu_ns = part(all.os_cpu_ns, path->below / below),
			.switches = part(all.switches, path->below / below),
			.io_calls = part(all.io_calls, path->below / below),
			.blocking_calls = part(all.blocking_calls, path->below / below),
		};
		take(path, &all, path->below / below, &caller->left);
		path->rest = path->values;
		path->values = own;
	}
	dw_call_values_add(&dw_call_lines_thread(s, caller->line)->cells, &caller->left);
	caller->left = (struct dw_call_values){0};
}

/* Let @path have a node for what calls from there have of no known path, if they have any. */
static int make_rest(struct dw_call_lines *s, struct dw_drawn_path *path)
{
	static const struct dw_call_values nothing;
	struct dw_call_node row = {.thread = dw_call_lines_thread(s, path->cell)->id,
				   .parent = s->lines.v[path->line].id,
				   .flags = DWELL_CALL_TRUNCATED};

	if (path->rest_node || !memcmp(&path->rest, &nothing, sizeof nothing))
		return 0;
	return dw_calls_add(&s->p->calls, &row, &path->rest_node);
}

int dw_drawn_give(struct dw_drawn_reader *r, struct dw_call_lines *s,
		  const struct dw_region_reading *now)
{
	dw_vec_each(caller, &r->callers)
		share_left(r, s, caller);
	dw_vec_each(path, &r->paths) {
		if (dw_deltas_give(s->p, s->lines.v[path->line].id, &path->values, now) ||
		    make_rest(s, path) || dw_deltas_give(s->p, path->rest_node, &path->rest, now))
			return -ENOMEM;
		path->values = path->rest = (struct dw_call_values){0};
		path->ticks += path->more;
		path->more = 0;
	}
	dw_vec_each(cell, &r->cells) {
		cell->ticks += cell->more;
		cell->more = 0;
	}
	return 0;
}

void dw_drawn_release(struct dw_drawn_reader *r)
{
	dw_vec_release(&r->paths);
	dw_vec_release(&r->cells);
	dw_vec_release(&r->callers);
	dw_pairs_release(&r->cell_of);
	dw_pairs_release(&r->caller_of);
}
