/*
 * Interning of lines; see call-lines.h. Parents stand before their children, but for those of
 * truncated nodes, so one walk along the changed lines finds most of them.
 */
#include "collect/calls/call-lines.h"

#include "collect/calls/cell-lines.h"
#include "collect/calls/counted.h"
#include "collect/calls/file-io.h"

#include <errno.h>
#include <string.h>

enum { IS_WAITING = 1 }; /* as id of a line without meaning */

bool dw_line_is_node(enum dw_line_kind kind)
{
	return kind >= DWELL_LINE_ROOT && kind <= DWELL_LINE_STATEMENT;
}

bool dw_line_is_cell(enum dw_line_kind kind)
{
	return kind >= DWELL_LINE_CELL && kind <= DWELL_LINE_CELL_STATEMENT;
}

bool dw_line_is_external(enum dw_line_kind kind)
{
	return kind == DWELL_LINE_EXTERNAL || kind == DWELL_LINE_CELL_EXTERNAL;
}

bool dw_call_lines_is_unknown(const struct dw_call_lines *s, uint32_t line)
{
	return line && line < s->lines.n && s->lines.v[line].kind == DWELL_LINE_UNKNOWN;
}

int64_t dw_call_lines_touch(struct dw_call_lines *s, uint32_t line)
{
	struct dw_call_line *l = &s->lines.v[line];
	struct dw_call_change c = {.line = line};

	if (l->change < s->changes.n && s->changes.v[l->change].line == line)
		return l->change;
	c.elapsed = s->counts.v[line].elapsed;
	c.calls = s->counts.v[line].calls;
	c.overhead = s->counts.v[line].overhead;
	if (dw_vec_push(&s->changes, c))
		return -ENOMEM;
	l->change = (uint32_t)(s->changes.n - 1);
	return l->change;
}

static const struct dw_arena_line nothing;

/* Let the line of index @whole in wholes have been @was at the reading before. */
static int set_old(struct dw_call_lines *s, uint32_t whole, const struct dw_arena_line *was)
{
	struct dw_whole_line *w = &s->wholes.v[whole];
	struct dw_old_line old = {*was, whole};

	if (w->old) {
		s->olds.v[w->old - 1] = old;
		return 0;
	}
	if (dw_vec_push(&s->olds, old))
		return -ENOMEM;
	w->old = (uint32_t)s->olds.n;
	return 0;
}

static const struct dw_arena_line *old_of(const struct dw_call_lines *s, uint32_t whole)
{
	const struct dw_whole_line *w = &s->wholes.v[whole];

	return w->old ? &s->olds.v[w->old - 1].line : &w->now;
}

int dw_call_lines_set(struct dw_call_lines *s, uint32_t line, const struct dw_arena_line *now)
{
	uint32_t whole = s->lines.v[line].whole;
	struct dw_arena_line was = s->wholes.v[whole].now;

	if (!s->wholes.v[whole].old && set_old(s, whole, &was))
		return -ENOMEM;
	s->wholes.v[whole].now = *now;
	return 0;
}

int dw_call_lines_renew(struct dw_call_lines *s, uint32_t line)
{
	return set_old(s, s->lines.v[line].whole, &nothing);
}

void dw_call_lines_get(const struct dw_call_lines *s, uint32_t line, uint32_t n, void *ret)
{
	struct dw_arena_line *to = ret;

	for (uint32_t i = 0; i < n; i++)
		to[i] = s->wholes.v[s->lines.v[line + i].whole].now;
}

void dw_call_lines_get_old(const struct dw_call_lines *s, uint32_t line, uint32_t n, void *ret)
{
	struct dw_arena_line *to = ret;

	for (uint32_t i = 0; i < n; i++)
		to[i] = *old_of(s, s->lines.v[line + i].whole);
}

void dw_call_lines_get_newer(const struct dw_call_lines *s, uint32_t line, uint32_t n, void *ret)
{
	if (!dw_arena_get(&s->arena, s->fd, line, n, ret))
		dw_call_lines_get(s, line, n, ret);
}

int dw_call_lines_keep(struct dw_call_lines *s, uint32_t line, enum dw_line_kind kind, uint32_t id,
		       const struct dw_arena_line *from)
{
	if (dw_call_lines_touch(s, line) < 0 ||
	    dw_vec_push(&s->wholes, (struct dw_whole_line){.now = *from}) ||
	    set_old(s, (uint32_t)s->wholes.n - 1, &nothing))
		return -ENOMEM;
	s->lines.v[line].id = id;
	s->lines.v[line].kind = kind;
	s->lines.v[line].whole = (uint32_t)s->wholes.n - 1;
	return 0;
}

int dw_call_lines_keep_rest(struct dw_call_lines *s, uint32_t line, uint32_t n)
{
	int rc = 0;

	for (uint32_t i = 1; i <= n && !rc; i++)
		rc = dw_call_lines_keep(s, line + i, DWELL_LINE_REST, line, &nothing);
	return rc;
}

uint32_t dw_call_lines_callee(struct dw_call_lines *s, uint64_t key, uint32_t thread)
{
	uint32_t id = dw_pairs_find(&s->callee_keys, key, thread);
	struct dw_call_callee row = {0};

	if (id)
		return id;
	if (key != DWELL_KEY_ROOT &&
	    s->names.callee(s->names.ctx, key, &row.entry, &row.is_external))
		return 0;
	if (dw_vec_push(&s->callees, row))
		return 0;
	id = dw_pairs_add(&s->callee_keys, key, thread);
	s->callees.n -= !id;
	return id;
}

int dw_call_lines_count(struct dw_call_lines *s, uint32_t line, const struct dw_tree_node *n)
{
	if (dw_call_lines_touch(s, line) < 0)
		return -ENOMEM;
	s->counts.v[line] =
		(struct dw_call_counts){n->elapsed, n->calls, n->overhead, n->is_inner, n->os};
	return 0;
}

static int add_thread(struct dw_call_lines *s, uint32_t line, const struct dw_tree_thread *t)
{
	struct dw_thread row = {
		.process = s->process,
		.tid = t->tid,
		.begin_ns = dw_region_clock_ns(s->clock, t->start),
		.end_ns = DWELL_TIME_NONE,
		.dirty = true,
	};
	struct dw_call_thread thread = {.line = line};
	struct dw_call_node root = {.flags = DWELL_CALL_ROOT};
	struct dw_call_line *l = &s->lines.v[t->root];
	const struct dw_arena_line *from = (const void *)t;
	struct dw_tree_node n;
	int rc = dw_threads_add(&s->p->threads, &row, &thread.id);

	root.thread = thread.id;
	if (!rc)
		rc = dw_calls_add(&s->p->calls, &root, &thread.root_node);
	if (!rc)
		rc = dw_vec_push(&s->threads, thread);
	for (uint32_t i = 0; i < DWELL_THREAD_LINES && !rc; i++)
		rc = dw_call_lines_keep(s, line + i, DWELL_LINE_THREAD, (uint32_t)s->threads.n - 1,
					from + i);
	if (rc)
		return rc;
	s->nodes++;
	l->id = thread.root_node;
	l->kind = DWELL_LINE_ROOT;
	l->callee = dw_call_lines_callee(s, DWELL_KEY_ROOT, (uint32_t)s->threads.n - 1);
	dw_arena_get(&s->arena, s->fd, t->root, 1, &n); /* its step may be over */
	return l->callee ? dw_call_lines_count(s, t->root, &n) : -ENOMEM;
}

/* Whether the thread at @line stands already. Until it does its lines are nothing else. */
static bool has_begun(struct dw_call_lines *s, uint32_t line, const struct dw_tree_thread *t)
{
	if (t->state != DWELL_THREAD_FREE && dw_call_lines_is_unknown(s, t->root) &&
	    t->root - line >= DWELL_THREAD_LINES)
		return true;
	for (uint32_t k = 0; k < DWELL_THREAD_LINES; k++)
		s->lines.v[line + k].id = IS_WAITING;
	return false;
}

/*
 * Find the threads that the region tells of and that have come since. They are told of before their
 * lines are written: looked for when lines were read, and before these get a meaning.
 */
static int find_threads(struct dw_call_lines *s)
{
	uint32_t at[DWELL_REGION_THREADS];
	int rc = dw_region_read_threads(s->fd, at, DWELL_REGION_THREADS);

	for (uint32_t i = 0; i < DWELL_REGION_THREADS && !rc; i++) {
		struct dw_tree_thread t;
		bool is_free = at[i] && at[i] <= s->lines.n;

		for (uint32_t k = 0; k < DWELL_THREAD_LINES && is_free; k++)
			is_free = dw_call_lines_is_unknown(s, at[i] + k);
		if (!is_free)
			continue;
		dw_arena_get(&s->arena, s->fd, at[i], DWELL_THREAD_LINES, &t);
		if (has_begun(s, at[i], &t))
			rc = add_thread(s, at[i], &t);
	}
	return rc;
}

/* The frames of a new node in the thread of index @thread, what it is, and whether trampolines let
 * it pass. */
static int name_node(struct dw_call_lines *s, const struct dw_tree_node *n, uint32_t thread,
		     struct dw_call_node *row, struct dw_call_line *l)
{
	const struct dw_region_names *names = &s->names;
	const struct dw_call_callee *callee;
	struct dw_region_site site = {0};
	uint32_t parent = n->parent;
	int rc = 0;

	if (s->lines.v[parent].kind == DWELL_LINE_STATEMENT)
		parent = s->lines.v[parent].parent;
	l->callee = dw_call_lines_callee(s, n->key, thread);
	if (!l->callee)
		return -ENOMEM;
	callee = &s->callees.v[l->callee - 1];
	row->entry = callee->entry;
	l->kind = DWELL_LINE_FUNCTION;
	if (dw_key_is_line(n->key)) {
		row->flags = DWELL_CALL_LINE;
		l->kind = DWELL_LINE_STATEMENT;
	} else if (callee->is_external) {
		row->flags = DWELL_CALL_EXTERNAL;
		l->kind = DWELL_LINE_EXTERNAL;
	}
	if (n->site && (!row->flags || row->flags == DWELL_CALL_EXTERNAL))
		rc = names->site(names->ctx, dw_call_lines_key(s, parent), n->site, !row->flags,
				 &site);
	row->site = site.frame;
	l->passed = row->flags ? 0 : (uint8_t)site.trampolines;
	return rc;
}

/* The line of a new node whose parent is known. */
static int add_node(struct dw_call_lines *s, uint32_t line, const struct dw_tree_node *n)
{
	const struct dw_call_line *up = &s->lines.v[n->parent];
	uint32_t thread = (uint32_t)s->callee_keys.v.v[up->callee - 1].b;
	struct dw_call_node row = {.parent = up->id, .thread = s->threads.v[thread].id};
	struct dw_call_line *l = &s->lines.v[line], found = {.parent = n->parent, .site = n->site};
	int rc = name_node(s, n, thread, &row, &found);

	if (!rc)
		rc = dw_calls_add(&s->p->calls, &row, &found.id);
	if (!rc)
		rc = dw_call_lines_count(s, line, n);
	found.change = l->change;
	if (!rc)
		*l = found;
	s->nodes += !rc;
	return rc;
}

int dw_call_lines_wait(struct dw_call_lines *s, uint32_t line)
{
	s->lines.v[line].id = IS_WAITING;
	return dw_vec_push(&s->waiting, line);
}

static enum dw_line_kind pair_kind(uint64_t mark)
{
	return mark == DWELL_MARK_EXTREMES ? DWELL_LINE_EXTREMES : DWELL_LINE_SLOW;
}

/* Two lines about single activations; what they say is looked at whenever it has changed. */
static int add_pair(struct dw_call_lines *s, uint32_t line, enum dw_line_kind kind,
		    const struct dw_arena_line *from)
{
	int rc;

	if (!dw_call_lines_is_unknown(s, line + 1))
		return 0;
	rc = dw_call_lines_keep(s, line, kind, 0, from);
	s->lines.v[line].state = 0;
	return rc ? rc : dw_call_lines_keep_rest(s, line, 1);
}

/* Two lines of an open activation: many threads have many of them, and they are read at the end. */
static int add_open(struct dw_call_lines *s, uint32_t line)
{
	if (dw_call_lines_is_unknown(s, line + 1))
		s->lines.v[line].kind = s->lines.v[line + 1].kind = DWELL_LINE_OPEN;
	return 0;
}

/* Whether the beginning of the new node @n may be missing. */
static bool may_be_torn(const struct dw_tree_node *n)
{
	return !n->key || (!n->site && !dw_key_is_line(n->key));
}

/* Whether @n is a mark of the trampolines: no activation, and none that is known. */
static bool is_trampoline_mark(const struct dw_tree_node *n)
{
	return n->os == UINT32_MAX && !n->elapsed && !n->calls;
}

bool dw_call_lines_is_mark(const struct dw_call_lines *s, uint32_t line)
{
	struct dw_tree_node n;

	return dw_call_lines_is_unknown(s, line) && dw_arena_get(&s->arena, s->fd, line, 1, &n) &&
	       n.parent && is_trampoline_mark(&n);
}

/*
 * The parent of @n. Where a call out was taken back after the loader had called something for it (a
 * function that chooses an implementation), that hangs below the mark that was left: it is called
 * by what has made the call. Parents lie before their children.
 */
static uint32_t parent_of(const struct dw_call_lines *s, const struct dw_tree_node *n)
{
	uint32_t parent = n->parent;

	while (parent < s->lines.n && dw_call_lines_is_unknown(s, parent)) {
		struct dw_tree_node above;

		dw_arena_get(&s->arena, s->fd, parent, 1, &above);
		if (!is_trampoline_mark(&above) || !above.parent || above.parent >= parent)
			break;
		parent = above.parent;
	}
	return parent;
}

static uint64_t mark_of(const struct dw_arena_line *from)
{
	return from->words[sizeof from->words / sizeof *from->words - 1];
}

/* How many lines what is marked so has. What is beyond the marks is a node with OS events. */
static uint32_t lines_of(uint64_t mark)
{
	if (mark == DWELL_MARK_INNER)
		return DWELL_INNER_LINES;
	return mark >= DWELL_MARK_DRAWN && mark < DWELL_MARK_OS ? 2 : 1;
}

static int look_at(struct dw_call_lines *s, uint32_t line, const struct dw_arena_line *from);

/*
 * What begins before @line may have been read before it was there, and @line, which is its end,
 * after that: let it have its meaning first, so that @line is taken for nothing else. No such
 * record asks for what is before it in turn.
 */
static int look_before(struct dw_call_lines *s, uint32_t line)
{
	int rc = 0;

	for (uint32_t i = 1; i < DWELL_INNER_LINES && i < line && !rc; i++) {
		struct dw_arena_line from;

		if (s->lines.v[line - i].kind != DWELL_LINE_UNKNOWN)
			break;
		if (s->lines.v[line - i].id != IS_WAITING &&
		    dw_arena_get(&s->arena, s->fd, line - i, 1, &from) &&
		    lines_of(mark_of(&from)) > i)
			rc = look_at(s, line - i, &from);
	}
	return rc;
}

/* Give a line that means nothing yet, and is now @from, its meaning. */
static int look_at(struct dw_call_lines *s, uint32_t line, const struct dw_arena_line *from)
{
	uint64_t mark = mark_of(from);
	struct dw_tree_node n;
	int rc;

	memcpy(&n, from, sizeof n);
	if (!n.parent)
		return 0;	   /* not in use */
	if (mark == DWELL_MARK_OS) /* its node says that it has it */
		return dw_call_lines_keep(s, line, DWELL_LINE_OS, 0, from);
	if (mark == DWELL_MARK_CALLEE)
		return dw_cell_lines_add_callee(s, line);
	if (mark == DWELL_MARK_INNER)
		return dw_cell_lines_add_inner(s, line, from);
	if (mark == DWELL_MARK_DRAWN)
		return dw_cell_lines_add_drawn(s, line);
	if (mark == DWELL_MARK_OPEN)
		return add_open(s, line);
	if (mark == DWELL_MARK_COUNTED || mark == DWELL_MARK_POINTER)
		return dw_counted_lines_add(s, line, from);
	if (mark >= DWELL_MARK_FILE_IO && mark <= DWELL_MARK_FILE)
		return dw_file_lines_add(s, line, mark, from);
	if (mark > DWELL_MARK_OPEN && mark <= DWELL_MARK_EXTREMES)
		return add_pair(s, line, pair_kind(mark), from);
	rc = look_before(s, line);
	if (rc || !dw_call_lines_is_unknown(s, line))
		return rc;
	if (may_be_torn(&n))
		dw_arena_get(&s->arena, s->fd, line, 1, &n);
	if (!n.parent || is_trampoline_mark(&n))
		return 0;
	if (n.parent < s->lines.n && s->lines.v[n.parent].kind == DWELL_LINE_CALLEE)
		return dw_cell_lines_add(s, line, (const struct dw_tree_cell *)&n);
	n.parent = parent_of(s, &n);
	if (n.parent < s->lines.n && dw_line_is_node(s->lines.v[n.parent].kind) &&
	    n.key != DWELL_KEY_ROOT &&
	    (!dw_key_is_line(n.key) || s->lines.v[n.parent].kind == DWELL_LINE_FUNCTION))
		return add_node(s, line, &n);
	if (n.parent < s->lines_end &&
	    (n.parent >= s->lines.n || dw_call_lines_is_unknown(s, n.parent)))
		return dw_call_lines_wait(s, line);
	s->broken++;
	s->lines.v[line].kind = DWELL_LINE_BROKEN;
	return 0;
}

void dw_call_lines_os(struct dw_call_lines *s, uint32_t line, uint32_t os, struct dw_tree_os *now,
		      struct dw_tree_os *old)
{
	struct dw_call_line *l = os && os < s->lines.n ? &s->lines.v[os] : NULL;

	*now = *old = (struct dw_tree_os){0};
	if (!l || l->kind != DWELL_LINE_OS)
		return;
	if (!l->id) {
		l->id = line;
		dw_call_lines_renew(s, os);
	}
	if (l->id != line)
		return;
	dw_call_lines_get(s, os, 1, now);
	dw_call_lines_get_old(s, os, 1, old);
}

static int take_counts(struct dw_call_lines *s, uint32_t line, const struct dw_tree_node *n)
{
	struct dw_call_counts *c = &s->counts.v[line];

	if (c->elapsed == n->elapsed && c->calls == n->calls && c->overhead == n->overhead &&
	    c->os == n->os)
		return 0;
	return dw_call_lines_count(s, line, n);
}

/* Take what a line that is kept is now, and tell that of what it is a part of. */
static int take_whole(struct dw_call_lines *s, uint32_t line, const struct dw_arena_line *from)
{
	const struct dw_call_line *l = &s->lines.v[line];
	bool is_part = l->id && (l->kind == DWELL_LINE_REST || l->kind == DWELL_LINE_OS ||
				 l->kind == DWELL_LINE_INNER);

	if (!memcmp(&s->wholes.v[l->whole].now, from, sizeof *from))
		return 0;
	if (dw_call_lines_set(s, line, from))
		return -ENOMEM;
	if (dw_call_lines_touch(s, line) < 0 || (is_part && dw_call_lines_touch(s, l->id) < 0))
		return -ENOMEM;
	return 0;
}

/* Take what @line is now. */
static int take_line(struct dw_call_lines *s, uint32_t line, const struct dw_arena_line *from)
{
	const struct dw_call_line *l = &s->lines.v[line];

	if (l->kind == DWELL_LINE_UNKNOWN)
		return l->id == IS_WAITING ? 0 : look_at(s, line, from);
	if (dw_line_is_node(l->kind))
		return take_counts(s, line, (const struct dw_tree_node *)from);
	if (l->kind == DWELL_LINE_BROKEN || l->kind == DWELL_LINE_CALLEE ||
	    l->kind == DWELL_LINE_OPEN || l->kind == DWELL_LINE_FILE || l->kind == DWELL_LINE_NAME)
		return 0;
	return dw_line_is_cell(l->kind) ? dw_cell_lines_take(s, line, (const void *)from)
					: take_whole(s, line, from);
}

/* Make room for @n lines, new ones without a meaning. */
static int grow(struct dw_call_lines *s, size_t n)
{
	size_t more = n > s->lines.n ? n - s->lines.n : 0;

	if (!more)
		return 0;
	if (dw_vec_reserve(&s->lines, more) || dw_vec_reserve(&s->counts, more))
		return -ENOMEM;
	memset(s->lines.v + s->lines.n, 0, more * sizeof *s->lines.v);
	memset(s->counts.v + s->lines.n, 0, more * sizeof *s->counts.v);
	s->lines.n = s->counts.n = n;
	return 0;
}

/* The first of several lines, up to DWELL_THREAD_LINES, may be the last of a step. */
static int take_step(void *ctx, uint32_t at, uint32_t n, const struct dw_arena_line *lines)
{
	struct dw_call_lines *s = ctx;
	size_t end = (size_t)at + n;
	size_t room = end + DWELL_THREAD_LINES - 1;
	int rc = grow(s, room < s->lines_end ? room : end < s->lines_end ? s->lines_end : end);

	if (!rc)
		rc = find_threads(s);
	for (uint32_t i = 0; i < n && !rc; i++)
		rc = take_line(s, at + i, &lines[i]);
	if (s->now->full)
		s->now->full(s->now->ctx);
	return rc;
}

/* Look at those that wait again, until it does not help any more. */
static int find_waiting(struct dw_call_lines *s)
{
	size_t n;
	int rc = 0;

	do {
		n = s->waiting.n;
		for (size_t i = 0; i < n && !rc; i++) {
			struct dw_arena_line from;

			dw_arena_get(&s->arena, s->fd, s->waiting.v[i], 1, &from);
			if (dw_call_lines_is_unknown(
				    s, s->waiting.v[i])) /* or it belongs to another by now */
				rc = look_at(s, s->waiting.v[i], &from);
		}
		memmove(s->waiting.v, s->waiting.v + n, (s->waiting.n - n) * sizeof(uint32_t));
		s->waiting.n -= n;
	} while (!rc && s->waiting.n && s->waiting.n < n);
	return rc;
}

int dw_call_lines_read(struct dw_call_lines *s, int fd, const struct dw_region_reading *now)
{
	int rc;

	s->fd = fd;
	s->now = now;
	s->clock = now->clock;
	s->lines_end = now->head->arena_lines;
	s->changes.n = 0;
	dw_vec_each(old, &s->olds)
		s->wholes.v[old->whole].old = 0;
	s->olds.n = 0;
	rc = dw_arena_read(&s->arena, fd, now->head, take_step, s);
	return rc || !s->waiting.n ? rc : find_waiting(s);
}

void dw_call_lines_release(struct dw_call_lines *s)
{
	dw_arena_release(&s->arena);
	dw_vec_release(&s->lines);
	dw_vec_release(&s->counts);
	dw_vec_release(&s->wholes);
	dw_vec_release(&s->olds);
	dw_vec_release(&s->changes);
	dw_vec_release(&s->callees);
	dw_pairs_release(&s->callee_keys);
	dw_vec_release(&s->threads);
	dw_vec_release(&s->waiting);
	dw_vec_release(&s->drawn);
}
