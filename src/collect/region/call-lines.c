/*
 * Meanings of lines; see call-lines.h. Parents stand before their children, but for those of
 * truncated nodes, so one walk along the changed lines finds most of them.
 */
#include "collect/region/call-lines.h"

#include "base/cleanup.h"
#include "base/sorted.h"

#include <errno.h>
#include <string.h>

enum { IS_WAITING = 1 }; /* as id of a line without meaning */

bool dw_line_is_node(enum dw_line_kind kind)
{
	return kind >= DWELL_LINE_ROOT && kind <= DWELL_LINE_TRUNCATED;
}

/* Whether the line is one that has no meaning yet. */
static bool is_unknown(const struct dw_call_lines *s, uint32_t line)
{
	return line && line < s->lines.n && s->lines.v[line].kind == DWELL_LINE_UNKNOWN;
}

struct dw_tree_node dw_call_lines_node(const struct dw_call_lines *s, uint32_t line)
{
	struct dw_tree_node node;

	dw_arena_get(&s->arena, line, 1, &node);
	return node;
}

/* Give @line a meaning; all it holds is new. */
static int adopt(struct dw_call_lines *s, uint32_t line, enum dw_line_kind kind, uint32_t id)
{
	int64_t i = dw_arena_touch(&s->arena, line);

	if (i < 0)
		return -ENOMEM;
	s->arena.changes.v[i].old = (struct dw_arena_line){0};
	s->lines.v[line] = (struct dw_call_line){.id = id, .kind = kind};
	return 0;
}

static int add_thread(struct dw_call_lines *s, uint32_t line, const struct dw_tree_thread *t,
		      const struct dw_region_clock *clock)
{
	struct dw_thread row = {
		.process = s->process,
		.tid = t->tid,
		.begin_ns = dw_region_clock_ns(clock, t->start),
		.end_ns = DWELL_TIME_NONE,
		.dirty = true,
	};
	struct dw_call_thread thread = {.line = line};
	struct dw_call_node root = {.flags = DWELL_CALL_ROOT};
	int rc = dw_threads_add(&s->p->threads, &row, &thread.id);

	root.thread = thread.id;
	if (!rc)
		rc = dw_calls_add(&s->p->calls, &root, &thread.root_node);
	if (!rc)
		rc = dw_vec_push(&s->threads, thread);
	for (uint32_t i = 0; i < DWELL_THREAD_LINES && !rc; i++)
		s->lines.v[line + i] = (struct dw_call_line){.id = (uint32_t)s->threads.n - 1,
							     .kind = DWELL_LINE_THREAD};
	s->nodes++;
	return rc ? rc : adopt(s, t->root, DWELL_LINE_ROOT, thread.root_node);
}

/* Whether the thread at @line stands already. Until it does its lines are nothing else. */
static bool has_begun(struct dw_call_lines *s, uint32_t line, const struct dw_tree_thread *t)
{
	if (t->state != DWELL_THREAD_FREE && is_unknown(s, t->root) &&
	    t->root - line >= DWELL_THREAD_LINES)
		return true;
	for (uint32_t k = 0; k < DWELL_THREAD_LINES; k++)
		s->lines.v[line + k].id = IS_WAITING;
	return false;
}

/* Find the threads among the lines @at that have come since the last reading. */
static int find_threads(struct dw_call_lines *s, const uint32_t *at, uint32_t n,
			const struct dw_region_clock *clock)
{
	int rc = 0;

	for (uint32_t i = 0; i < n && !rc; i++) {
		struct dw_tree_thread t;
		bool is_free = at[i] <= s->lines.n;

		for (uint32_t k = 0; k < DWELL_THREAD_LINES && is_free; k++)
			is_free = is_unknown(s, at[i] + k);
		if (!is_free)
			continue;
		dw_arena_get(&s->arena, at[i], DWELL_THREAD_LINES, &t);
		if (has_begun(s, at[i], &t))
			rc = add_thread(s, at[i], &t, clock);
	}
	return rc;
}

/* The frames of a new node, whether its callee has no probes, and whether gates let it pass. */
static int name_node(struct dw_call_lines *s, const struct dw_tree_node *n,
		     struct dw_call_node *row, uint8_t *passed)
{
	const struct dw_region_names *names = &s->names;
	struct dw_region_site site = {0};
	uint32_t parent = n->parent;
	uint64_t caller;
	bool is_outside = true;
	int rc;

	if (s->lines.v[parent].kind == DWELL_LINE_STATEMENT)
		parent = s->lines.v[parent].parent;
	caller = dw_call_lines_node(s, parent).key;

	if (n->key == DWELL_KEY_TRUNCATED) {
		row->flags = DWELL_CALL_TRUNCATED;
		return 0;
	}
	rc = names->callee(names->ctx, n->key, &row->entry, &is_outside);
	row->flags = is_outside ? DWELL_CALL_OUTSIDE : 0;
	if (dw_key_is_line(n->key)) {
		row->flags = DWELL_CALL_LINE;
		return rc;
	}
	if (!rc && n->site)
		rc = names->site(names->ctx, caller, n->site, !is_outside, &site);
	row->site = site.frame;
	*passed = is_outside ? 0 : (uint8_t)site.gates;
	return rc;
}

/* The line of a new node whose parent is known. */
static int add_node(struct dw_call_lines *s, uint32_t line, const struct dw_tree_node *n)
{
	uint32_t parent = s->lines.v[n->parent].id, id;
	struct dw_call_node row = {.parent = parent};
	enum dw_line_kind kind = DWELL_LINE_FUNCTION;
	uint8_t passed = 0;
	int rc = name_node(s, n, &row, &passed);

	if (!rc) {
		row.thread = dw_calls_get(&s->p->calls, parent)->thread;
		rc = dw_calls_add(&s->p->calls, &row, &id);
	}
	if (rc)
		return rc;
	if (row.flags == DWELL_CALL_LINE)
		kind = DWELL_LINE_STATEMENT;
	else if (row.flags)
		kind = row.flags == DWELL_CALL_OUTSIDE ? DWELL_LINE_OUTSIDE : DWELL_LINE_TRUNCATED;
	s->nodes++;
	rc = adopt(s, line, kind, id);
	s->lines.v[line].parent = n->parent;
	s->lines.v[line].passed = passed;
	return rc;
}

/* Look at @line again at the next reading. */
static int wait(struct dw_call_lines *s, uint32_t line)
{
	s->lines.v[line].id = IS_WAITING;
	return dw_vec_push(&s->waiting, line);
}

/*
 * Copy @n lines, at most DWELL_OVERFLOW_LINES, once more. A new line may have been copied while it
 * was written: its beginning as it was before, nothing, and its end, which is written last, as it
 * is now. By now all of it is there.
 */
static void make_whole(struct dw_call_lines *s, uint32_t line, uint32_t n)
{
	struct dw_arena_line newer[DWELL_OVERFLOW_LINES];

	dw_arena_get_newer(&s->arena, s->fd, line, n, newer);
	memcpy(&s->arena.lines.v[line], newer, n * sizeof *newer);
}

/* Both nodes of the overflow lines at @line. */
static int add_overflow(struct dw_call_lines *s, uint32_t line)
{
	struct dw_tree_overflow o;
	struct dw_call_node row = {.flags = DWELL_CALL_OVERFLOW};
	struct dw_region_site site = {0};
	const struct dw_call_thread *t;
	bool is_outside;
	uint32_t id, second;
	int rc;

	if (!is_unknown(s, line + 1))
		return 0;
	make_whole(s, line, DWELL_OVERFLOW_LINES);
	dw_arena_get(&s->arena, line, DWELL_OVERFLOW_LINES, &o);
	if (o.thread >= s->lines.n || s->lines.v[o.thread].kind != DWELL_LINE_THREAD)
		return wait(s, line);
	t = &s->threads.v[s->lines.v[o.thread].id];
	row.thread = t->id;
	row.parent = t->root_node;
	rc = s->names.callee(s->names.ctx, o.caller, &row.caller, &is_outside);
	if (!rc)
		rc = s->names.callee(s->names.ctx, o.key, &row.entry, &is_outside);
	if (!rc && o.site)
		rc = s->names.site(s->names.ctx, o.caller, o.site, !is_outside, &site);
	row.site = site.frame;
	row.flags |= is_outside ? DWELL_CALL_OUTSIDE : 0;
	row.flags |= o.outermost & DWELL_OUTERMOST_FUNCTION ? DWELL_CALL_OUTERMOST_FUNCTION : 0;
	row.flags |= o.outermost & DWELL_OUTERMOST_MODULE ? DWELL_CALL_OUTERMOST_MODULE : 0;
	row.flags |= o.outermost & DWELL_OUTERMOST_EDGE ? DWELL_CALL_OUTERMOST_EDGE : 0;
	row.flags |= o.outermost & DWELL_OUTERMOST_SITE ? DWELL_CALL_OUTERMOST_SITE : 0;
	if (!rc)
		rc = dw_calls_add(&s->p->calls, &row, &id);
	row.flags |= DWELL_CALL_INCLUSIVE;
	if (!rc)
		rc = dw_calls_add(&s->p->calls, &row, &second);
	if (!rc)
		rc = adopt(s, line, DWELL_LINE_OVERFLOW, id);
	s->overflow_nodes++;
	return rc ? rc : adopt(s, line + 1, DWELL_LINE_REST, line);
}

static enum dw_line_kind pair_kind(uint64_t mark)
{
	if (mark == DWELL_MARK_OPEN)
		return DWELL_LINE_OPEN;
	return mark == DWELL_MARK_EACH ? DWELL_LINE_EACH : DWELL_LINE_SLOW;
}

/* Two lines about single activations; what they say is looked at whenever it has changed. */
static int add_pair(struct dw_call_lines *s, uint32_t line, enum dw_line_kind kind)
{
	int rc = is_unknown(s, line + 1) ? adopt(s, line, kind, 0) : 0;

	return rc || s->lines.v[line].kind != kind ? rc : adopt(s, line + 1, DWELL_LINE_REST, line);
}

/* Whether the beginning of the new node @n may be missing. */
static bool may_be_torn(const struct dw_tree_node *n)
{
	return !n->key || (!n->site && !dw_key_is_line(n->key));
}

/* Whether @n is a mark of the gates: no activation, and none that is known. */
static bool is_gates_mark(const struct dw_tree_node *n)
{
	return n->os == UINT32_MAX && !n->elapsed && !n->calls;
}

/*
 * The parent of @n. Where a call out was taken back after the loader had called something for it (a
 * function that chooses an implementation), that hangs below the mark that was left: it is called
 * by what has made the call. Parents lie before their children.
 */
static uint32_t parent_of(const struct dw_call_lines *s, const struct dw_tree_node *n)
{
	uint32_t parent = n->parent;

	while (parent < s->lines.n && is_unknown(s, parent)) {
		struct dw_tree_node above = dw_call_lines_node(s, parent);

		if (!is_gates_mark(&above) || !above.parent || above.parent >= parent)
			break;
		parent = above.parent;
	}
	return parent;
}

/* Give a changed line that means nothing yet its meaning. */
static int look_at(struct dw_call_lines *s, uint32_t line)
{
	struct dw_arena_line raw = s->arena.lines.v[line];
	uint64_t mark = raw.words[sizeof raw.words / sizeof *raw.words - 1];
	struct dw_tree_node n = dw_call_lines_node(s, line);

	if (mark == DWELL_MARK_OS || !n.parent)
		return 0; /* known by its node; not in use */
	if (mark == DWELL_MARK_OVERFLOW)
		return add_overflow(s, line);
	if (mark >= DWELL_MARK_OPEN && mark <= DWELL_MARK_EACH)
		return add_pair(s, line, pair_kind(mark));
	if (may_be_torn(&n)) {
		make_whole(s, line, 1);
		n = dw_call_lines_node(s, line);
	}
	if (is_gates_mark(&n))
		return 0;
	n.parent = parent_of(s, &n);
	if (n.parent < s->lines.n && dw_line_is_node(s->lines.v[n.parent].kind) &&
	    n.key != DWELL_KEY_ROOT &&
	    (!dw_key_is_line(n.key) || s->lines.v[n.parent].kind == DWELL_LINE_FUNCTION))
		return add_node(s, line, &n);
	if (is_unknown(s, n.parent))
		return wait(s, line);
	s->broken++;
	s->lines.v[line].kind = DWELL_LINE_BROKEN;
	return 0;
}

/* The line of what the system did in the node at @line, linked when it is new; 0 = none. -ENOMEM.
 */
static int64_t find_os(struct dw_call_lines *s, uint32_t line, uint32_t os)
{
	struct dw_call_line *l;

	if (!os || os >= s->lines.n)
		return 0;
	l = &s->lines.v[os];
	if (l->kind == DWELL_LINE_OS)
		return l->id == line ? os : 0;
	if (l->kind != DWELL_LINE_UNKNOWN ||
	    s->arena.lines.v[os].words[offsetof(struct dw_tree_os, mark) / sizeof(uint64_t)] !=
		    DWELL_MARK_OS)
		return 0;
	return adopt(s, os, DWELL_LINE_OS, line) ? -ENOMEM : (int64_t)os;
}

/* Find the meaning of the changed @line. */
static int find_node(struct dw_call_lines *s, uint32_t line)
{
	const struct dw_call_line *l = &s->lines.v[line];

	if (l->kind == DWELL_LINE_UNKNOWN && l->id != IS_WAITING)
		return look_at(s, line);
	/* These are parts of something that has changed with them. */
	if (l->kind == DWELL_LINE_OS || l->kind == DWELL_LINE_REST)
		return dw_arena_touch(&s->arena, l->id) < 0 ? -ENOMEM : 0;
	return 0;
}

/* Look at those that wait again, until it does not help any more. */
static int find_waiting(struct dw_call_lines *s)
{
	size_t n;
	int rc = 0;

	do {
		n = s->waiting.n;
		for (size_t i = 0; i < n && !rc; i++)
			rc = look_at(s, s->waiting.v[i]);
		memmove(s->waiting.v, s->waiting.v + n, (s->waiting.n - n) * sizeof(uint32_t));
		s->waiting.n -= n;
	} while (!rc && s->waiting.n && s->waiting.n < n);
	return rc;
}

static int find_nodes(struct dw_call_lines *s)
{
	size_t n = s->arena.changes.n;
	int rc = 0;

	for (size_t i = 0; i < n && !rc; i++)
		rc = find_node(s, s->arena.changes.v[i].line);
	return rc || !s->waiting.n ? rc : find_waiting(s);
}

struct dw_call_thread *dw_call_lines_thread(struct dw_call_lines *s, uint32_t id)
{
	uint32_t thread = dw_calls_get(&s->p->calls, id)->thread;
	size_t i = dw_sorted_count(s->threads.v, s->threads.n, t, t->id < thread);

	return &s->threads.v[i];
}

int dw_call_lines_os(struct dw_call_lines *s, uint32_t line, uint32_t os, struct dw_tree_os *now,
		     struct dw_tree_os *old)
{
	int64_t at = find_os(s, line, os);

	*now = *old = (struct dw_tree_os){0};
	if (at <= 0)
		return (int)at;
	dw_arena_get(&s->arena, (uint32_t)at, 1, now);
	dw_arena_get_old(&s->arena, (uint32_t)at, 1, old);
	return 0;
}

/* Copy the arena and where the threads stand in it, @at: in this order, because a thread is told of
 * before its lines are written. */
static int copy(struct dw_call_lines *s, int fd, const struct dw_region_head *head,
		uint32_t at[DWELL_REGION_THREADS])
{
	size_t more;
	int rc = dw_arena_read(&s->arena, fd, head);

	if (!rc)
		rc = dw_region_read_threads(fd, at, DWELL_REGION_THREADS);
	more = s->arena.lines.n - s->lines.n;
	if (!rc)
		rc = dw_vec_reserve(&s->lines, more);
	if (!rc && more) {
		memset(s->lines.v + s->lines.n, 0, more * sizeof *s->lines.v);
		s->lines.n += more;
	}
	return rc == DWELL_ERR_NOT_FOUND ? DWELL_ERR_FORMAT : rc;
}

int dw_call_lines_read(struct dw_call_lines *s, int fd, const struct dw_region_head *head,
		       const struct dw_region_clock *clock)
{
	uint32_t threads[DWELL_REGION_THREADS];
	int rc = copy(s, fd, head, threads);

	s->fd = fd;
	if (!rc)
		rc = find_threads(s, threads, DWELL_REGION_THREADS, clock);
	return rc ? rc : find_nodes(s);
}

void dw_call_lines_release(struct dw_call_lines *s)
{
	dw_arena_release(&s->arena);
	dw_vec_release(&s->lines);
	dw_vec_release(&s->threads);
	dw_vec_release(&s->waiting);
}
