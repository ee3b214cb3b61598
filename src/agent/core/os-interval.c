/*
 * Dividing intervals; see os-interval.h.
 *
 * What the clocks say was off the processor since the look before is at most the interval: what a
 * host or interrupts took in earlier ones, which nobody noticed, is left out. Without a source the
 * clocks are read only after long system calls and long slow paths.
 */
#include "agent/core/os-interval.h"

#include "agent/core/bytes.h"
#include "agent/core/ticks-x86-64.h"

enum {
	LONG_CALL_TICKS = 1 << 15, /* some 10 us */
	LATE_TICKS = 1 << 15,
};

static uint64_t at_most(uint64_t value, uint64_t limit)
{
	return value < limit ? value : limit;
}

/* Look, where it may say anything. */
static void look(struct dw_tree_thread *t, struct dw_os_state *s, uint64_t now,
		 struct dw_os_look *ret)
{
	bool is_long = t->state == DWELL_THREAD_IN_CALL && now - t->last > LONG_CALL_TICKS;

	if (t->os_source != DWELL_OS_NONE || is_long) {
		dw_os_look(t, s, ret);
		return;
	}
	memset(ret, 0, sizeof(*ret));
	t->os_seen = s->word;
}

/* By the classic rule: the pieces since the last probe are one interval. */
static void close_probe(struct dw_os_state *s, enum dw_os_event event, struct dw_interval *ret)
{
	bool has_event = ret->os || ret->switches || event == DWELL_EVENT_CALL;

	s->probe_ticks += ret->elapsed;
	s->has_event |= has_event;
	if (event != DWELL_EVENT_PROBE)
		return;
	ret->os_probe = s->has_event ? s->probe_ticks : 0;
	s->probe_ticks = 0;
	s->has_event = false;
}

uint64_t dw_os_close(struct dw_tree_thread *t, struct dw_os_state *s, uint64_t now,
		     enum dw_os_event event, struct dw_interval *ret)
{
	bool is_call = t->state == DWELL_THREAD_IN_CALL;
	struct dw_os_look l;

	memset(ret, 0, sizeof(*ret));
	now = now > t->last ? now : t->last;
	look(t, s, now, &l);
	if (l.now > now + LATE_TICKS) /* switched after @now */
		now = l.now;
	ret->elapsed = now - t->last;
	ret->os_blocked = at_most(l.blocked, ret->elapsed);
	ret->os = is_call ? ret->elapsed : ret->os_blocked;
	ret->os_cpu = ret->os - ret->os_blocked;
	ret->os_kind = is_call ? s->call == DWELL_CALL_IO ? DWELL_OS_IO : DWELL_OS_BLOCKING
			       : DWELL_OS_SWITCHED;
	ret->switches = l.switches;
	if (is_call) {
		ret->io_calls = s->call == DWELL_CALL_IO;
		ret->blocking_calls = s->call == DWELL_CALL_BLOCKING;
		s->call = DWELL_CALL_NOT_COUNTED;
		t->state = DWELL_THREAD_RUNNING;
	}
	close_probe(s, event, ret);
	if (event == DWELL_EVENT_CALL)
		t->os_seen = ~s->word;
	return now;
}

/* Whether the thread may have been switched since the last look; without a source, when @taken
 * ticks are long. */
static bool may_be_switched(const struct dw_tree_thread *t, const struct dw_os_state *s,
			    uint64_t taken)
{
	if (t->os_source == DWELL_OS_NONE)
		return taken > LATE_TICKS;
	return __atomic_load_n(t->os_word, __ATOMIC_RELAXED) != s->word;
}

bool dw_os_close_slow(struct dw_tree_thread *t, struct dw_os_state *s, uint64_t begin,
		      uint64_t *now, struct dw_interval *ret)
{
	struct dw_os_look l;

	if (!may_be_switched(t, s, *now - begin))
		return false;
	memset(ret, 0, sizeof(*ret));
	dw_os_look(t, s, &l);
	*now = l.now > *now ? l.now : *now;
	ret->elapsed = at_most(l.blocked, *now - begin);
	ret->os = ret->os_blocked = ret->elapsed;
	ret->os_kind = DWELL_OS_SWITCHED;
	ret->switches = l.switches;
	close_probe(s, s->has_event ? DWELL_EVENT_CALL : DWELL_EVENT_PROBE, ret);
	if (s->has_event)
		t->os_seen = ~s->word;
	return true;
}

void dw_os_call_begin(struct dw_tree_thread *t, struct dw_os_state *s, enum dw_call_kind kind)
{
	s->call = (uint8_t)kind;
	t->call = kind;
	t->state = DWELL_THREAD_IN_CALL;
	t->os_seen = ~s->word;
}
