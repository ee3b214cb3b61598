/* Times charged ahead; see call-ahead.h. */
#include "collect/calls/call-ahead.h"

#include "wire/system-calls.h"

#include <errno.h>
#include <string.h>

#define SILENT_NS 1000000

/* Whether the thread's line says when its clock was read, and it has run from then to its last
 * event. */
static bool is_told(const struct dw_tree_thread *t)
{
	return t->os_source != DWELL_OS_NONE && t->cpu_at && t->cpu_at <= t->last;
}

/* What the thread has run since its last event, ticks, when its clock is at @cpu_ns: from the
 * reading of that clock to the event it was not switched, where it has an OS source. */
static double ran_since_last(const struct dw_tree_thread *t, uint64_t cpu_ns, double ns_per_tick)
{
	double ticks = cpu_ns > t->cpu_ns ? (double)(cpu_ns - t->cpu_ns) / ns_per_tick : 0;

	return t->cpu_at && t->cpu_at <= t->last ? ticks - (double)(t->last - t->cpu_at) : 0;
}

/*
 * Find out whether @thread, whose line is @t and whose last event is a while back, has ended since,
 * and how long it is known to have run: by what it says of its clock at that event, or, if it had
 * none since the reading before, as long as the clock says.
 */
static void check_silent(struct dw_call_thread *thread, const struct dw_tree_thread *t,
			 const struct dw_region_reading *now)
{
	double ns_per_tick = now->clock->ns_per_tick, ran;
	uint64_t cpu_ns = 0;

	if (((double)now->until - (double)t->last) * ns_per_tick < SILENT_NS || thread->is_gone)
		return;
	if (t->end_cpu_ns)
		cpu_ns = t->end_cpu_ns;
	else if (now->thread_cpu)
		thread->is_gone = !now->thread_cpu(now->ctx, t->tid, &cpu_ns);
	if (thread->silent_last != t->last)
		thread->silent_ticks = 0;
	else if (thread->silent_cpu_ns && cpu_ns > thread->silent_cpu_ns)
		thread->silent_ticks += (double)(cpu_ns - thread->silent_cpu_ns) / ns_per_tick;
	ran = ran_since_last(t, cpu_ns, ns_per_tick);
	if (ran > thread->silent_ticks)
		thread->silent_ticks = ran;
	thread->silent_is_exact = cpu_ns && is_told(t);
	thread->silent_last = t->last;
	thread->silent_cpu_ns = cpu_ns;
}

struct dw_call_ahead *dw_call_ahead_add(struct dw_call_aheads *a, uint32_t line)
{
	struct dw_call_ahead *known = dw_call_ahead_of(a, line);

	if (known)
		return known;
	if (dw_vec_push(&a->v, (struct dw_call_ahead){.line = line}) ||
	    dw_map_put(&a->of, line, (uint32_t)a->v.n))
		return NULL;
	return &a->v.v[a->v.n - 1];
}

/* What @t is at since its last event, @elapsed ticks, @ran of which it is known to have run. */
static struct dw_call_stretch stretch_of(const struct dw_tree_thread *t, int64_t elapsed,
					 int64_t ran, bool is_exact)
{
	struct dw_call_stretch stretch = {.elapsed = elapsed};

	ran = ran < elapsed ? ran : elapsed;
	if (t->state == DWELL_THREAD_RUNNING) {
		stretch.application = ran;
		stretch.blocked = is_exact ? elapsed - ran : 0;
		return stretch;
	}
	stretch.os_cpu = ran;
	stretch.blocked = elapsed - ran;
	stretch.io_calls = t->call == DWELL_CALL_IO;
	stretch.blocking_calls = t->call == DWELL_CALL_BLOCKING;
	return stretch;
}

/* Charge what the thread @t is at until @until, which lies behind its last event. */
static int look_ahead(struct dw_call_aheads *list, struct dw_call_lines *s,
		      const struct dw_call_thread *thread, const struct dw_tree_thread *t,
		      const struct dw_region_head *head, uint64_t until)
{
	uint64_t line = ((uint64_t)t->current - head->arena_base) / DWELL_LINE_BYTES;
	bool is_known = thread->silent_last == t->last;
	struct dw_call_ahead *a;

	if (until <= t->last || !t->last || line >= s->lines.n ||
	    (!dw_line_is_node(s->lines.v[line].kind) && !dw_line_is_cell(s->lines.v[line].kind)))
		return 0;
	a = dw_call_ahead_add(list, (uint32_t)line);
	if (!a)
		return -ENOMEM;
	a->until = until;
	a->now = stretch_of(t, (int64_t)(until - t->last),
			    is_known ? (int64_t)thread->silent_ticks : 0,
			    is_known && thread->silent_is_exact);
	return 0;
}

/* Likewise of @thread, if it goes on. A system call of its that goes on at the last reading ends
 * with it. */
static int look_at(struct dw_call_aheads *a, struct dw_call_lines *s, struct dw_call_thread *thread,
		   const struct dw_region_reading *now)
{
	struct dw_tree_thread t, before;
	uint64_t until = now->until;
	bool is_in_call;

	dw_call_lines_get(s, thread->line, DWELL_THREAD_LINES, &t);
	thread->wait_until = 0;
	if (t.end || t.state == DWELL_THREAD_ENDED)
		return 0;
	before = t;
	dw_call_lines_get_newer(s, thread->line, DWELL_THREAD_LINES, &t);
	check_silent(thread, &t, now);
	is_in_call = t.state == DWELL_THREAD_IN_CALL;
	if (!until && is_in_call)
		until = now->waits_until; /* also if it was found gone: it went with its process */
	else if (thread->is_gone)
		return 0;
	if (t.slow_since)
		return 0;
	if (until > thread->ahead_until)
		thread->ahead_until = until;
	if (now->is_last && is_in_call && before.state == t.state && before.last == t.last)
		thread->wait_until = until;
	return look_ahead(a, s, thread, &t, now->head, until);
}

int dw_call_aheads_look(struct dw_call_aheads *a, struct dw_call_lines *s,
			const struct dw_region_reading *now)
{
	int rc = 0;

	dw_vec_each(ahead, &a->v) {
		ahead->now = (struct dw_call_stretch){0};
		ahead->until_before = ahead->until;
	}
	dw_vec_each(thread, &s->threads) {
		if (!rc)
			rc = look_at(a, s, thread, now);
	}
	for (size_t i = 0; i < a->v.n && !rc; i++)
		if (dw_call_lines_touch(s, a->v.v[i].line) < 0)
			rc = -ENOMEM;
	return rc;
}

/* One stream: what to give for an increment of @increment with @more ahead of it. */
static int64_t settle(int64_t *ahead, int64_t increment, int64_t more)
{
	int64_t give = increment + more - *ahead;

	if (give < 0)
		give = 0;
	*ahead += give - increment;
	return give;
}

/* Take up to *@excess off *@from. */
static int64_t take(int64_t *from, int64_t *excess)
{
	int64_t n = *from < *excess ? *from : *excess;

	n = n > 0 ? n : 0;
	*from -= n;
	*excess -= n;
	return n;
}

/* What was given ahead cannot be taken back: where a later reading of the thread's clock finds that
 * it waited less, the program's own time stays behind until the parts are no more than the whole.
 */
static void keep_within_elapsed(struct dw_call_ahead *a, struct dw_call_increment *increment)
{
	struct dw_call_stretch *given = &a->given;
	int64_t over = given->application + given->blocked + given->os_cpu - given->elapsed;
	int64_t delimited, taken;

	if (over <= 0)
		return;
	taken = take(&increment->application, &over);
	given->application -= taken;
	delimited = taken;
	a->delimited -= take(&increment->delimited, &delimited);
}

void dw_call_ahead_settle(struct dw_call_ahead *a, struct dw_call_increment *increment)
{
	const struct dw_call_stretch *now = &a->now;
	struct dw_call_stretch *given = &a->given;

	increment->elapsed = settle(&given->elapsed, increment->elapsed, now->elapsed);
	increment->application =
		settle(&given->application, increment->application, now->application);
	increment->delimited = settle(&a->delimited, increment->delimited, now->application);
	increment->blocked =
		(uint64_t)settle(&given->blocked, (int64_t)increment->blocked, now->blocked);
	increment->os_cpu =
		(uint64_t)settle(&given->os_cpu, (int64_t)increment->os_cpu, now->os_cpu);
	increment->io_calls =
		(uint64_t)settle(&given->io_calls, (int64_t)increment->io_calls, now->io_calls);
	increment->blocking_calls = (uint64_t)settle(
		&given->blocking_calls, (int64_t)increment->blocking_calls, now->blocking_calls);
	keep_within_elapsed(a, increment);
}

/* Take up to *@excess of the system's time off *@from and give it to *@to, unless that was given
 * it ahead, of which @more is not over. */
static void move_systems(uint64_t *from, uint64_t *to, int64_t *ahead, int64_t more,
			 int64_t *excess)
{
	int64_t time = (int64_t)*from, over = *ahead - more;
	int64_t moved = take(&time, excess);

	over = over < 0 ? 0 : over < moved ? over : moved;
	*from -= (uint64_t)moved;
	*ahead -= over;
	*to += (uint64_t)(moved - over);
}

/* Give @to what of @from was charged to it ahead, as @a knows. */
static void call_ahead_move(struct dw_call_ahead *a, struct dw_call_increment *from,
			    struct dw_call_increment *to)
{
	struct dw_call_stretch *given = &a->given;
	int64_t all = given->elapsed - a->now.elapsed;
	int64_t program = given->application - a->now.application;
	int64_t of_system = from->elapsed - from->application;
	int64_t system, moved, delimited;

	program = program < 0 ? 0 : program < all ? program : all;
	system = all - program;
	moved = take(&from->application, &program);
	delimited = moved;
	given->application -= moved;
	take(&from->delimited, &delimited);
	a->delimited -= moved - delimited;
	system = take(&of_system, &system);
	given->elapsed -= moved + system;
	from->elapsed -= moved + system;
	move_systems(&from->blocked, &to->blocked, &given->blocked, a->now.blocked, &system);
	move_systems(&from->os_cpu, &to->os_cpu, &given->os_cpu, a->now.os_cpu, &system);
}

/* Whether the thread of @a has counted, somewhere, all that was charged ahead of it before this
 * reading. */
static bool is_counted(struct dw_call_lines *s, const struct dw_call_ahead *a)
{
	struct dw_tree_thread t;

	dw_call_lines_get(s, dw_call_lines_thread(s, a->line)->line, DWELL_THREAD_LINES, &t);
	return t.last > a->until_before;
}

/* Whether the node of @c was charged ahead with what its thread has counted elsewhere. */
static bool has_counted(const struct dw_call_aheads *list, struct dw_call_lines *s,
			const struct dw_call_change *c)
{
	const struct dw_call_ahead *a = dw_call_ahead_of(list, c->line);

	return a && a->given.elapsed > a->now.elapsed && is_counted(s, a);
}

/* Take off @from what was charged to the node of @to, which has @a, in the same thread. */
static int move_to(struct dw_call_ahead *a, struct dw_call_increments *increments,
		   struct dw_call_change *from, struct dw_call_change *to)
{
	struct dw_call_increment gives = dw_call_increments_get(increments, from);
	struct dw_call_increment gets = dw_call_increments_get(increments, to);
	int rc;

	call_ahead_move(a, &gives, &gets);
	rc = dw_call_increments_set(increments, from, &gives);
	return rc ? rc : dw_call_increments_set(increments, to, &gets);
}

int dw_call_aheads_move(struct dw_call_aheads *list, struct dw_call_lines *s,
			struct dw_call_increments *increments)
{
	struct dw_map of_thread = {0}; /* line -> index in changes + 1 */
	int rc = 0;

	if (!list->v.n)
		return 0;
	dw_call_each_node(c, s)
	{
		if (!rc && has_counted(list, s, c))
			rc = dw_map_put(&of_thread, dw_call_lines_thread(s, c->line)->line,
					(uint32_t)(c - s->changes.v) + 1);
	}
	for (size_t i = 0; of_thread.used && i < s->changes.n && !rc; i++) {
		struct dw_call_change *c = &s->changes.v[i], *to;
		uint32_t at =
			dw_call_is_node(s, c)
				? dw_map_get(&of_thread, dw_call_lines_thread(s, c->line)->line)
				: 0;

		to = at ? &s->changes.v[at - 1] : c;
		if (to != c)
			rc = move_to(dw_call_ahead_of(list, to->line), increments, c, to);
	}
	dw_map_release(&of_thread);
	return rc;
}

static bool is_even(const struct dw_call_ahead *a)
{
	static const struct dw_call_stretch nothing;

	return !a->delimited && !memcmp(&a->given, &nothing, sizeof nothing);
}

int dw_call_aheads_keep(struct dw_call_aheads *a)
{
	size_t to = 0;
	int rc = 0;

	dw_map_release(&a->of);
	dw_vec_each(ahead, &a->v) {
		if (is_even(ahead))
			continue;
		a->v.v[to++] = *ahead;
		if (!rc)
			rc = dw_map_put(&a->of, a->v.v[to - 1].line, (uint32_t)to);
	}
	a->v.n = to;
	return rc;
}

void dw_call_aheads_release(struct dw_call_aheads *a)
{
	dw_vec_release(&a->v);
	dw_map_release(&a->of);
}
