/*
 * What calls waited for; see calls.h. A node waits in its callee, so kinds are known by the names
 * of functions, here and in callers. Paths that are estimates stand for what overflow nodes have:
 * one place in the code is one place of a thread, whichever of them tells it.
 */
#include "analysis/calls.h"
#include "analysis/wait-totals.h"
#include "base/cleanup.h"
#include "base/map.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { ABOVE_MAX = 16 /* callers that are looked at */ };

/* The nearest node at or above @id that is not the system's, 0 = the thread has called none. */
static uint32_t find_user(const struct dw_wait_namer *namer, uint32_t id)
{
	const struct dw_call_node *at;

	while ((at = dw_calls_get(&namer->profile->calls, id)) && !(at->flags & DWELL_CALL_ROOT) &&
	       dw_wait_frame_is_system(namer, at->entry))
		id = at->parent < id ? at->parent : 0;
	return at && !(at->flags & DWELL_CALL_ROOT) ? id : 0;
}

static const char *name_of(const struct dw_profile *p, uint32_t id)
{
	const struct dw_call_node *node = dw_calls_get(&p->calls, id);
	const struct dw_function *f = dw_functions_get(
		&p->functions, node ? dw_locations_innermost(&p->locations, node->entry) : 0);

	return f ? dw_strings_get(&p->strings, f->name) : "";
}

static bool ends_in(const char *text, const char *end)
{
	size_t n = strlen(text), end_n = strlen(end);

	return n >= end_n && !strcmp(text + n - end_n, end);
}

/* Whether @id is where a thread of .NET waits that has called nothing else: its timer's, say. */
static bool is_runtimes_own(const struct dw_call_nodes *t, uint32_t id)
{
	const struct dw_call_node *at;

	while ((at = dw_calls_get(&t->profile->calls, id)) && !(at->flags & DWELL_CALL_ROOT)) {
		if (at->flags & DWELL_CALL_OVERFLOW ||
		    strncmp(name_of(t->profile, id), "System.Threading.", 17))
			return false;
		id = at->parent < id ? at->parent : 0;
	}
	return at;
}

/* Whether @id is where a .NET program's entry waits for the task that is the program's work, as
 * others do by joining a thread. */
static bool is_end_of_program(const struct dw_wait_namer *namer, uint32_t id)
{
	const struct dw_profile *p = namer->profile;
	uint32_t user = find_user(namer, id);
	bool is_for_task = false;

	for (int i = 0; i < ABOVE_MAX && id > user && !is_for_task; i++) {
		is_for_task =
			!strcmp(name_of(p, id), "System.Threading.Tasks.Task.InternalWaitCore");
		id = dw_calls_get(&p->calls, id)->parent;
	}
	return is_for_task &&
	       (ends_in(name_of(p, user), ".Main") || ends_in(name_of(p, user), ".<Main>"));
}

/* Whether @thread is one of .NET's pool, which has no methods that wait for work. */
static bool is_pools(const struct dw_profile *p, uint32_t thread)
{
	const struct dw_thread *th = dw_threads_get(&p->threads, thread);

	return th && dw_wait_is_pool_thread(dw_strings_get(&p->strings, th->name));
}

/* Where system calls are seen, who made none was taken off the processor, whatever it is called. */
static void name_kinds(struct dw_call_nodes *t, struct dw_wait_namer *namer)
{
	dw_vec_each(wait, &t->waits) {
		const struct dw_call_node *node = dw_call_nodes_get(t, wait->place);
		enum dw_wait_kind kind;

		if (t->has_system_calls && wait->kind == DWELL_WAIT_READY)
			continue;
		kind = dw_wait_kind_of_node(namer, wait->place);
		if (kind == DWELL_WAIT_CONDITION && is_end_of_program(namer, wait->place))
			kind = DWELL_WAIT_CHILD;
		if (kind != DWELL_WAIT_OTHER || node->flags & DWELL_CALL_TRUNCATED)
			wait->kind = kind;
		wait->is_external |= is_runtimes_own(t, wait->place);
		wait->is_pooled = is_pools(t->profile, wait->thread);
	}
}

/* What waiting for the file called @name means. */
static enum dw_wait_kind kind_of_file(const char *name)
{
	static const struct {
		const char *name;
		enum dw_wait_kind kind;
	} known[] = {
		{"[socket]", DWELL_WAIT_SOCKET},     {"[pipe]", DWELL_WAIT_PIPE},
		{"[eventfd]", DWELL_WAIT_CONDITION}, {"[timerfd]", DWELL_WAIT_TIMER},
		{"[signalfd]", DWELL_WAIT_IDLE},     {"/dev/pts/", DWELL_WAIT_IDLE},
		{"/dev/tty", DWELL_WAIT_IDLE},	     {"/", DWELL_WAIT_DISK},
	};

	for (size_t i = 0; i < sizeof known / sizeof *known; i++)
		if (!strncmp(name, known[i].name, strlen(known[i].name)))
			return known[i].kind;
	return DWELL_WAIT_IO;
}

/* How long a function of a thread read and wrote, by what that is to wait for. */
struct io {
	uint64_t ns[DWELL_WAIT_KINDS], all_ns;
};

struct io_of {
	DW_VEC(struct io) rows;
	struct dw_map index; /* thread << 32 | entry -> index in rows + 1 */
};

static uint64_t io_key(uint32_t thread, uint32_t entry)
{
	return (uint64_t)thread << 32 | entry;
}

static int add_file(struct io_of *t, const struct dw_profile *p, const struct dw_call_file *f)
{
	uint64_t key = io_key(f->thread, f->entry);
	uint32_t at = dw_map_get(&t->index, key);

	if (!at) {
		if (dw_vec_push(&t->rows, (struct io){0}) ||
		    dw_map_put(&t->index, key, (uint32_t)t->rows.n))
			return -ENOMEM;
		at = (uint32_t)t->rows.n;
	}
	t->rows.v[at - 1].ns[kind_of_file(dw_strings_get(&p->strings, f->file))] += f->sums.time_ns;
	t->rows.v[at - 1].all_ns += f->sums.time_ns;
	return 0;
}

/* What of @t tells how long @id read and wrote, or its caller if @id did not. NULL = nothing. */
static const struct io *io_of_node(const struct io_of *t, const struct dw_calls *calls, uint32_t id)
{
	const struct dw_call_node *node = dw_calls_get(calls, id);
	const struct dw_call_node *above = dw_calls_get(calls, node->parent);
	uint32_t caller = node->flags & DWELL_CALL_OVERFLOW ? node->caller
			  : above			    ? above->entry
							    : 0;
	uint32_t at = dw_map_get(&t->index, io_key(node->thread, node->entry));

	if (!at)
		at = dw_map_get(&t->index, io_key(node->thread, caller));
	return at ? &t->rows.v[at - 1] : NULL;
}

/* What @io was for if nearly all of its time is of one kind. */
static enum dw_wait_kind kind_of_io(const struct io *io)
{
	for (enum dw_wait_kind kind = 0; io && kind < DWELL_WAIT_KINDS; kind++)
		if (io->ns[kind] > io->all_ns / 10 * 9)
			return kind;
	return DWELL_WAIT_IO;
}

/* Whether most of @wait, whose function's name tells nothing, was input and output. */
static bool is_io(const struct dw_call_nodes *t, const struct io_of *io,
		  const struct dw_wait_at *wait)
{
	const struct dw_call_node *node = dw_call_nodes_get(t, wait->place);
	uint32_t at = dw_map_get(&io->index, io_key(node->thread, node->entry));

	return wait->kind == DWELL_WAIT_OTHER && !(node->flags & DWELL_CALL_ROOT) && at &&
	       io->rows.v[at - 1].all_ns > wait->ns / 2;
}

static int name_io(struct dw_call_nodes *t)
{
	const struct dw_calls *calls = &t->profile->calls;
	struct io_of io = {0};
	int rc = 0;

	for (size_t i = 0; i < calls->files.n && !rc; i++)
		rc = add_file(&io, t->profile, &calls->files.v[i]);
	dw_vec_each(wait, &t->waits) {
		if (!rc && (wait->kind == DWELL_WAIT_IO || is_io(t, &io, wait)))
			wait->kind = kind_of_io(io_of_node(&io, calls, wait->place));
	}
	dw_vec_release(&io.rows);
	dw_map_release(&io.index);
	return rc;
}

/* Threads that wait for work, by the call sites where they do. */
static int find_idle(struct dw_call_nodes *t)
{
	dw_auto_free struct dw_wait_at *at = calloc(t->waits.n + 1, sizeof *at);
	int rc;

	if (!at)
		return -ENOMEM;
	for (size_t i = 0; i < t->waits.n; i++) {
		const struct dw_call_node *node = dw_call_nodes_get(t, t->waits.v[i].place);

		at[i] = t->waits.v[i];
		at[i].place = node->site ? node->site : node->entry;
	}
	rc = dw_find_idle_threads(t->profile, at, t->waits.n);
	for (size_t i = 0; i < t->waits.n && !rc; i++)
		t->waits.v[i].kind = at[i].kind;
	return rc;
}

static void leave_out(struct dw_call_nodes *t, const struct dw_wait_at *wait)
{
	uint32_t id = wait->place;
	uint64_t before_ns = dw_call_nodes_values(t, id).left_out_ns;
	struct dw_call_values more = {0};

	t->state[id] |= wait->is_ready ? DWELL_CALL_READY_LEFT_OUT : DWELL_CALL_LEFT_OUT;
	more.left_out_ns = dw_call_nodes_values(t, id).left_out_ns - before_ns;
	dw_call_nodes_add_to_thread(t, id, &more);
}

int dw_call_waits_find(struct dw_call_nodes *t)
{
	struct dw_wait_namer namer;
	int rc = dw_wait_namer_init(&namer, t->profile);

	if (!rc)
		name_kinds(t, &namer);
	dw_wait_namer_release(&namer);
	if (!rc)
		rc = name_io(t);
	if (!rc)
		rc = find_idle(t);
	dw_vec_each(wait, &t->waits) {
		if (!rc && dw_wait_kinds_have(t->filter->waits_left_out, wait->kind))
			leave_out(t, wait);
	}
	return rc;
}

int dw_call_waits_sum(const struct dw_call_nodes *t, struct dw_wait_total *ret)
{
	struct dw_wait_totals totals;
	int rc = dw_wait_totals_init(&totals, t->profile, true, ret);

	for (size_t i = 0; i < t->waits.n && !rc; i++) {
		const struct dw_wait_at *w = &t->waits.v[i];

		if (!(dw_call_nodes_get(t, w->place)->flags & DWELL_CALL_ESTIMATED))
			rc = dw_wait_totals_add(&totals, w->kind, w->ns, w->thread, 0, w->place);
	}
	dw_wait_totals_end(&totals);
	dw_wait_totals_release(&totals);
	return rc;
}
