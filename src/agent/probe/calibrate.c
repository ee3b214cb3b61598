/*
 * Measuring the gates; see calibrate.h.
 *
 * Each of the two nodes gets the time that probes take off the caller and the callee, less the
 * loop's own. The gates time a part of that in place, here as everywhere, by two readings that lie
 * closer to each other than to anything else; so what is told is the difference, which can be
 * negative. Both parts are means of the same rounds: one time in place in ten is shorter by half,
 * as its branch was predicted, so the least of them says nothing of the others.
 */
#include "agent/probe/calibrate.h"

#include "agent/core/agent.h"
#include "agent/core/bytes.h"
#include "agent/core/threads.h"
#include "agent/core/ticks-x86-64.h"
#include "agent/core/tree.h"

enum { ROUNDS = 12, CALLS = 4096, ROOT = 1, CALLEE = 2, ABOVE = 64 };

/* What loops call. */
struct dw_calibrate_gates {
	uint64_t enter, leave; /* whose events count */
	uint64_t out, back;    /* which let pass ... */
	uint64_t probed;       /* ... calls of this address */
};

typedef void loop(const struct dw_calibrate_gates *gates, uint32_t n);
loop dw_calibrate_function, dw_calibrate_pointer, dw_calibrate_outside, dw_calibrate_nothing;
extern const char dw_calibrate_function_site[] __attribute__((visibility("hidden")));
extern const char dw_calibrate_pointer_site[] __attribute__((visibility("hidden")));
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
	loop *loop;
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

/* What a round has measured, ticks. */
struct round {
	uint64_t caller, callee;
	uint64_t enter_n, enter; /* in place: how often, and the sum */
	uint64_t leave_n, leave;
};

static struct round run(struct stage *s, const struct dw_area *area, const struct pair *p)
{
	const struct dw_clone_header *h = area->header;
	struct dw_tree_thread *t = &s->thread;
	struct dw_calibrate_gates gates = {
		.enter = area->area + h->gate_at[p->enter_gate],
		.leave = area->area + h->gate_at[p->leave_gate],
		.out = area->area + h->gate_at[DWELL_GATE_OUT_POINTER],
		.back = area->area + h->gate_at[DWELL_GATE_BACK],
		.probed = area->module + h->probed_start,
	};

	s->nodes[ROOT].elapsed = s->nodes[CALLEE].elapsed = 0;
	memset(t->timed, 0, sizeof(t->timed));
	memset(t->timed_ticks, 0, sizeof(t->timed_ticks));
	t->last = dw_ticks();
	dw_thread_word = t;
	p->loop(&gates, CALLS);
	dw_thread_word = &dw_thread_none;
	s->nodes[ROOT].elapsed += dw_ticks() - t->last;
	return (struct round){s->nodes[ROOT].elapsed, s->nodes[CALLEE].elapsed,
			      t->timed[p->enter],     t->timed_ticks[p->enter],
			      t->timed[p->leave],     t->timed_ticks[p->leave]};
}

/* A mean, in parts of a tick. */
static int64_t mean(uint64_t ticks, uint64_t n)
{
	return (int64_t)(ticks * DWELL_TICK_PARTS / n);
}

/* What the loop itself takes: the mean of the quickest round, in parts of a tick. */
static int64_t nothing(void)
{
	uint64_t least = UINT64_MAX;

	for (int i = 0; i < ROUNDS; i++) {
		uint64_t start = dw_ticks(), ticks;

		dw_calibrate_nothing(NULL, CALLS);
		ticks = dw_ticks() - start;
		least = ticks < least ? ticks : least;
	}
	return mean(least, CALLS);
}

/* The sum of the rounds that took little longer than the quickest, in the others the thread may
 * have been switched. Returns their number. */
static uint32_t add_up(const struct round rounds[ROUNDS], struct round *sum)
{
	uint64_t least = UINT64_MAX;
	uint32_t n = 0;

	for (int i = 0; i < ROUNDS; i++)
		if (rounds[i].caller + rounds[i].callee < least)
			least = rounds[i].caller + rounds[i].callee;
	for (int i = 0; i < ROUNDS; i++) {
		const struct round *r = &rounds[i];

		if (r->caller + r->callee > least + least / 8)
			continue;
		n++;
		sum->caller += r->caller;
		sum->callee += r->callee;
		sum->enter_n += r->enter_n;
		sum->enter += r->enter;
		sum->leave_n += r->leave_n;
		sum->leave += r->leave;
	}
	return n;
}

/* What a call takes of its caller and its callee, without what the probes time in place. In parts
 * of a tick. */
struct share {
	int64_t caller, callee;
};

/* False: no probe has timed itself. */
static bool measure(const struct dw_area *area, const struct pair *p, struct share *ret)
{
	struct round rounds[ROUNDS], sum = {0};
	struct stage s;
	uint64_t calls;

	set(&s, area, p->site);
	for (int i = 0; i < ROUNDS; i++)
		rounds[i] = run(&s, area, p);
	calls = (uint64_t)add_up(rounds, &sum) * CALLS;
	if (!sum.enter_n || !sum.leave_n)
		return false;
	ret->caller = mean(sum.caller, calls) - mean(sum.leave, sum.leave_n);
	ret->callee = mean(sum.callee, calls) - mean(sum.enter, sum.enter_n);
	return true;
}

void dw_calibrate(const struct dw_area *area)
{
	static const struct pair function = {dw_calibrate_function, dw_calibrate_function_site,
					     DWELL_GATE_ENTER,	    DWELL_GATE_EXIT,
					     DWELL_PROBE_ENTER,	    DWELL_PROBE_LEAVE},
				 pointer = {dw_calibrate_pointer, dw_calibrate_pointer_site,
					    DWELL_GATE_ENTER,	  DWELL_GATE_EXIT,
					    DWELL_PROBE_ENTER,	  DWELL_PROBE_LEAVE},
				 outside = {dw_calibrate_outside, dw_calibrate_outside_site,
					    DWELL_GATE_OUT,	  DWELL_GATE_BACK,
					    DWELL_PROBE_OUT,	  DWELL_PROBE_BACK};
	struct dw_tree_thread *word = dw_thread_word;
	struct dw_region_header *told = dw_agent_region();
	struct share share, passed;
	int64_t own = nothing();

	if (measure(area, &function, &share)) {
		told->probe_cost[DWELL_PROBE_ENTER] = (int32_t)(share.caller - own);
		told->probe_cost[DWELL_PROBE_LEAVE] = (int32_t)share.callee;
		if (measure(area, &pointer, &passed) && passed.caller > share.caller)
			told->pass_cost = (int32_t)(passed.caller - share.caller);
	}
	if (measure(area, &outside, &share)) {
		told->probe_cost[DWELL_PROBE_OUT] = (int32_t)(share.caller - own);
		told->probe_cost[DWELL_PROBE_BACK] = (int32_t)share.callee;
	}
	dw_thread_word = word;
}
