/*
 * Measuring the gates; see calibrate.h.
 *
 * Each of the two nodes gets the time that probes take off the caller and the callee, less the
 * loop's own. The gates time a part of that in place, here as everywhere, by two readings that lie
 * closer to each other than to anything else; so what is told is the difference, which can be
 * negative. The quickest of some rounds counts: the thread may be switched in others.
 */
#include "agent/probe/calibrate.h"

#include "agent/core/agent.h"
#include "agent/core/bytes.h"
#include "agent/core/threads.h"
#include "agent/core/ticks-x86-64.h"
#include "agent/core/tree.h"

enum { ROUNDS = 6, CALLS = 2048, ROOT = 1, CALLEE = 2, ABOVE = 64 };

void dw_calibrate_function(uint64_t enter, uint64_t leave, uint32_t n);
void dw_calibrate_outside(uint64_t out, uint64_t back, uint32_t n);
void dw_calibrate_nothing(uint64_t unused, uint64_t unused2, uint32_t n);
extern const char dw_calibrate_function_site[] __attribute__((visibility("hidden")));
extern const char dw_calibrate_outside_site[] __attribute__((visibility("hidden")));

/* A thread with a caller and a callee. */
struct stage {
	struct dw_tree_thread thread;
	struct dw_tree_node nodes[3]; /* by line: its arena begins here */
	struct dw_shadow shadow[4];
	struct dw_tree_quick quick[2];
} __attribute__((aligned(DWELL_LINE_BYTES)));

/* Probes that come in pairs. */
struct pair {
	void (*loop)(uint64_t enter, uint64_t leave, uint32_t n);
	const char *site;
	uint32_t enter_gate, leave_gate; /* enum dw_gate */
	uint32_t enter, leave;		 /* enum dw_probe_kind */
};

static void set(struct stage *s, const struct dw_area *area, const char *site)
{
	const uint64_t *constants = (const uint64_t *)(area->area + area->header->constants_at);
	struct dw_tree_node *callee = &s->nodes[CALLEE];

	memset(s, 0, sizeof(*s));
	s->thread.top = s->shadow;
	s->thread.current = &s->nodes[ROOT];
	s->thread.os_word = &s->thread.os_seen;
	s->thread.limit = s->shadow + 3;
	s->thread.arena = (uint64_t)s->nodes;
	s->thread.quick = s->quick;
	s->shadow[0] = (struct dw_shadow){&s->nodes[ROOT], (uint64_t)(s + 1) + ABOVE + 1};
	callee->key = constants[DWELL_CONSTANT_FIRST_ID];
	callee->site = (uint32_t)(uint64_t)site;
	s->nodes[ROOT].tags[0] = dw_tree_tag(callee);
	s->nodes[ROOT].children[0] = CALLEE;
}

/* One round: the ticks of @loop per call. */
static uint64_t run(struct stage *s, const struct dw_area *area, const struct pair *p)
{
	const struct dw_clone_header *h = area->header;

	s->nodes[ROOT].elapsed = s->nodes[CALLEE].elapsed = 0;
	memset(s->thread.timed, 0, sizeof(s->thread.timed));
	memset(s->thread.timed_ticks, 0, sizeof(s->thread.timed_ticks));
	s->thread.last = dw_ticks();
	dw_thread_word = &s->thread;
	p->loop(area->area + h->gate_at[p->enter_gate], area->area + h->gate_at[p->leave_gate],
		CALLS);
	dw_thread_word = &dw_thread_none;
	s->nodes[ROOT].elapsed += dw_ticks() - s->thread.last;
	return (s->nodes[ROOT].elapsed + s->nodes[CALLEE].elapsed) / CALLS;
}

static uint64_t nothing(void)
{
	uint64_t least = UINT64_MAX;

	for (int i = 0; i < ROUNDS; i++) {
		uint64_t start = dw_ticks(), ticks;

		dw_calibrate_nothing(0, 0, CALLS);
		ticks = (dw_ticks() - start) / CALLS;
		least = ticks < least ? ticks : least;
	}
	return least;
}

/* Let *@least be what the round has measured in place, if that is less. */
static void in_place(const struct stage *s, uint32_t kind, int32_t *least)
{
	uint64_t n = s->thread.timed[kind];
	int32_t ticks = n ? (int32_t)(s->thread.timed_ticks[kind] / n) : INT32_MAX;

	*least = ticks < *least ? ticks : *least;
}

static void measure(const struct dw_area *area, const struct pair *p)
{
	uint64_t least = UINT64_MAX, ticks;
	int32_t caller = 0, callee = 0, enter = INT32_MAX, leave = INT32_MAX;
	int32_t *told = dw_agent_region()->probe_ticks;
	struct stage s;

	set(&s, area, p->site);
	for (int i = 0; i < ROUNDS; i++) {
		ticks = run(&s, area, p);
		in_place(&s, p->enter, &enter);
		in_place(&s, p->leave, &leave);
		if (ticks >= least)
			continue;
		least = ticks;
		caller = (int32_t)(s.nodes[ROOT].elapsed / CALLS);
		callee = (int32_t)(s.nodes[CALLEE].elapsed / CALLS);
	}
	if (enter == INT32_MAX || leave == INT32_MAX) /* none has timed itself */
		return;
	told[p->enter] = caller - (int32_t)nothing() - leave;
	told[p->leave] = callee - enter;
}

void dw_calibrate(const struct dw_area *area)
{
	static const struct pair pairs[] = {
		{dw_calibrate_function, dw_calibrate_function_site, DWELL_GATE_ENTER,
		 DWELL_GATE_EXIT, DWELL_PROBE_ENTER, DWELL_PROBE_LEAVE},
		{dw_calibrate_outside, dw_calibrate_outside_site, DWELL_GATE_OUT, DWELL_GATE_BACK,
		 DWELL_PROBE_OUT, DWELL_PROBE_BACK},
	};
	struct dw_tree_thread *word = dw_thread_word;

	for (size_t i = 0; i < sizeof(pairs) / sizeof(*pairs); i++)
		measure(area, &pairs[i]);
	dw_thread_word = word;
}
