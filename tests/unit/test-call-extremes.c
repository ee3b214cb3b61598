/*
 * Single activations: what the shortest, longest and slowest calls were, by hand and by bounds that
 * let all others pass. The program is random calls among a few functions, on two stacks.
 */
#include "agent/calls/activation.h"
#include "agent/calls/threads.h"
#include "agent/core/agent-internal.h"
#include "agent/core/memory.h"
#include "check.h"
#include "scratch.h"

#include <fcntl.h>

enum {
	KEYS = 7, /* callees, from 1 on */
	KEPT = 3, /* slowest */
	DEPTH_MAX = 30,
	STEPS = 200000,
	ARENA_BYTES = 16 << 20,
	CALLEE_TICKS = 7, /* of probes */
	CALLER_TICKS = 5,
	STACKS = 2,
};

static void nothing(void)
{
}

const struct dw_agent_part dw_agent_part = {.forked = nothing, .end = nothing};

__attribute__((constructor)) static void start_region(void)
{
	if (!getcwd(dw_agent.folder, sizeof dw_agent.folder) ||
	    ftruncate(creat(DWELL_REGION_ALIVE, 0600), 4096) || !dw_region_start() ||
	    !dw_arena_start(ARENA_BYTES))
		abort();
}

/* An open call. */
struct call {
	uint32_t key;
	uint64_t start; /* of the program's own time on its stack */
	uint64_t below; /* inclusive times of its callees */
	uint64_t os, own_os;
};

struct by_hand {
	struct dw_tree_extremes extremes; /* ranges only */
	uint64_t slowest[KEPT];
};

struct program {
	struct dw_thread t;
	struct call calls[STACKS][DEPTH_MAX];
	uint32_t n[STACKS];
	uint64_t time[STACKS];
	uint32_t stack;
	uint64_t tsc;
	uint32_t random;
	bool has_cost;
	uint64_t quick; /* ends that nobody looked at */
	struct by_hand by_hand[KEYS + 1];
};

static uint32_t at_random(struct program *p, uint32_t n)
{
	p->random = p->random * 1664525 + 1013904223;
	return (p->random >> 8) % n;
}

static uint64_t record_of(const struct program *p)
{
	return 0x7f0000000000 - p->stack * 0x100000000ull - p->n[p->stack] * 64ull;
}

static bool start(struct program *p)
{
	static const struct dw_tree_range none = {UINT64_MAX, 0};
	uint32_t line = dw_arena_take(&p->t.tree.lines, DWELL_THREAD_LINES, DWELL_LINE_OTHER);
	struct dw_tree_node *root;

	p->t.line = dw_arena_line(dw_arena_base(), line);
	root = dw_tree_start(&p->t.tree, p->t.line);
	p->t.line->tid = (int32_t)getpid();
	dw_extremes_start(&p->t.extremes, p->t.line);
	p->t.stacks.extremes = &p->t.extremes;
	p->t.line->callee_ticks[DWELL_PAIR_FUNCTION] = p->has_cost ? CALLEE_TICKS : 0;
	p->t.line->pair_ticks[DWELL_PAIR_FUNCTION] = p->has_cost ? CALLEE_TICKS + CALLER_TICKS : 0;
	p->tsc = 1ull << 40;
	for (int i = 1; i <= KEYS; i++) {
		struct dw_tree_extremes *extremes = &p->by_hand[i].extremes;

		extremes->elapsed_inclusive = extremes->elapsed_exclusive = none;
		extremes->application_inclusive = extremes->application_exclusive = none;
	}
	return line && root && dw_stacks_start(&p->t.stacks, p->t.line, root, record_of(p));
}

static void widen(struct dw_tree_range *r, uint64_t ticks)
{
	r->least = ticks < r->least ? ticks : r->least;
	r->most = ticks > r->most ? ticks : r->most;
}

static void keep_slow(struct by_hand *h, uint64_t ticks)
{
	for (int i = 0; i < KEPT; i++) {
		uint64_t other = h->slowest[i];

		if (ticks <= other)
			continue;
		h->slowest[i] = ticks;
		ticks = other;
	}
}

/* The last call of the stack ends, by hand. */
static void end_by_hand(struct program *p)
{
	struct call *calls = p->calls[p->stack], *c = &calls[--p->n[p->stack]];
	uint64_t inclusive = p->time[p->stack] - c->start, exclusive = inclusive - c->below;
	struct by_hand *h = &p->by_hand[c->key];
	bool is_inner = false;

	for (struct call *above = calls; above < c; above++)
		is_inner |= above->key == c->key;
	widen(&h->extremes.elapsed_exclusive, exclusive);
	widen(&h->extremes.application_exclusive, exclusive - c->own_os);
	if (!is_inner) {
		widen(&h->extremes.elapsed_inclusive, inclusive);
		widen(&h->extremes.application_inclusive, inclusive - c->os);
		keep_slow(h, inclusive);
	}
	if (c > calls) {
		c[-1].below += inclusive;
		c[-1].os += c->os;
	}
}

/* What a trampoline does where nothing is new. False: it is for the slow path. */
static bool end_quickly(struct program *p)
{
	struct dw_tree_thread *line = p->t.line;
	struct dw_shadow *e = line->top;
	const struct dw_bounds *b =
		(const struct dw_bounds *)line->bounds + (e->function->key & line->bounds_mask);
	uint64_t now = p->tsc - line->cost, inclusive = now - e->start;

	if (now - e->spent - (uint64_t)b->exclusive_least > b->exclusive_span)
		return false;
	if (!e->function->is_inner && inclusive - (uint64_t)b->inclusive_least > b->inclusive_span)
		return false;
	line->cost += line->pair_ticks[DWELL_PAIR_FUNCTION];
	e[-1].spent += inclusive;
	line->top = e - 1;
	line->current = e[-1].node;
	p->quick++;
	return true;
}

static void spend(struct program *p, uint64_t ticks)
{
	p->time[p->stack] += ticks;
	p->tsc += ticks;
}

static void call(bool *check_failed, struct program *p, uint32_t key)
{
	struct call *c = &p->calls[p->stack][p->n[p->stack]];
	struct dw_tree_node *node;
	uint64_t record = record_of(p) - 64;

	dw_stacks_at(&p->t.stacks, p->tsc);
	CHECK_INT(dw_stacks_fit(&p->t.stacks, DWELL_AT_ENTER, record), DWELL_FIT_EVENT);
	node = dw_tree_child(&p->t.tree, p->t.line->current, key, key);
	CHECK(node);
	dw_extremes_expect(&p->t.extremes, key, KEPT);
	CHECK(dw_stacks_push(&p->t.stacks, node, record, false));
	*c = (struct call){.key = key, .start = p->time[p->stack]};
	p->n[p->stack]++;
	p->tsc += p->has_cost ? CALLEE_TICKS : 0;
}

static void end(bool *check_failed, struct program *p)
{
	uint64_t record = record_of(p);

	if (!end_quickly(p)) {
		dw_stacks_at(&p->t.stacks, p->tsc);
		CHECK_INT(dw_stacks_fit(&p->t.stacks, DWELL_AT_EXIT, record), DWELL_FIT_EVENT);
		dw_stacks_pop(&p->t.stacks);
	}
	end_by_hand(p);
	p->tsc += p->has_cost ? CALLER_TICKS : 0;
}

/* Leave several calls at once. */
static void jump(bool *check_failed, struct program *p, uint32_t n)
{
	while (p->n[p->stack] > 1 && n--)
		end_by_hand(p);
	dw_stacks_at(&p->t.stacks, p->tsc);
	CHECK_INT(dw_stacks_fit(&p->t.stacks, DWELL_AT_LANDING, record_of(p) - 32), DWELL_FIT_NONE);
}

static void wait_for(struct program *p, uint32_t ticks)
{
	struct call *c = &p->calls[p->stack][p->n[p->stack] - 1];
	struct dw_interval interval = {.elapsed = ticks,
				       .os = ticks,
				       .os_blocked = ticks,
				       .os_kind = (enum dw_os_kind)at_random(p, DWELL_OS_KINDS)};

	spend(p, ticks);
	if (!p->n[p->stack])
		return;
	c->os += ticks;
	c->own_os += ticks;
	dw_activation_add_os(&p->t.stacks, &interval);
}

static void step(bool *check_failed, struct program *p)
{
	uint32_t n = p->n[p->stack], what = at_random(p, 100);

	if (n && (n == DEPTH_MAX || what < 48))
		end(check_failed, p);
	else
		call(check_failed, p, 1 + at_random(p, KEYS));
	if (what == 99)
		wait_for(p, 1 + at_random(p, 500));
	if (what == 98 && !p->has_cost)
		jump(check_failed, p, at_random(p, 5));
	if (what == 97 && p->n[p->stack ^ 1] < DEPTH_MAX) {
		p->stack ^= 1;
		call(check_failed, p, 1 + at_random(p, KEYS));
	}
	spend(p, at_random(p, at_random(p, 1000) ? 100 : 10000));
}

static void check_range(bool *check_failed, const struct dw_tree_range *got,
			const struct dw_tree_range *want)
{
	CHECK_INT(got->least, want->least);
	CHECK_INT(got->most, want->most);
}

static void check_slowest(bool *check_failed, const struct dw_tree_extremes *extremes,
			  const struct by_hand *want)
{
	const struct dw_tree_slow *slow = (const struct dw_tree_slow *)(extremes + 1);
	struct by_hand got = {0};

	for (int i = 0; i < KEPT; i++) {
		uint64_t os = 0;

		for (int k = 0; k < DWELL_OS_KINDS; k++)
			os += slow[i].os[k];
		CHECK(slow[i].mark == DWELL_MARK_SLOW && !(slow[i].serial & 1));
		CHECK(os <= slow[i].elapsed && slow[i].own_os <= os);
		CHECK_INT(os, slow[i].blocked_ticks);
		keep_slow(&got, slow[i].elapsed);
	}
	for (int i = 0; i < KEPT; i++)
		CHECK_INT(got.slowest[i], want->slowest[i]);
}

static void check_all(bool *check_failed, const struct program *p)
{
	uint32_t thread = dw_arena_index(dw_arena_base(), p->t.line), found = 0;

	for (uint32_t i = 1; i < dw_agent.region->arena_lines; i++) {
		const struct dw_tree_extremes *extremes = dw_arena_line(dw_arena_base(), i);
		const struct by_hand *want = &p->by_hand[extremes->key % (KEYS + 1)];

		if (extremes->mark != DWELL_MARK_EXTREMES || extremes->thread != thread)
			continue;
		found++;
		check_range(check_failed, &extremes->elapsed_inclusive,
			    &want->extremes.elapsed_inclusive);
		check_range(check_failed, &extremes->elapsed_exclusive,
			    &want->extremes.elapsed_exclusive);
		check_range(check_failed, &extremes->application_inclusive,
			    &want->extremes.application_inclusive);
		check_range(check_failed, &extremes->application_exclusive,
			    &want->extremes.application_exclusive);
		check_slowest(check_failed, extremes, want);
	}
	CHECK_INT(found, KEYS);
	CHECK_INT(p->t.line->extremes_lost, 0);
}

static void run(bool *check_failed, struct program *p)
{
	CHECK(start(p));
	for (int i = 0; i < STEPS && !*check_failed; i++)
		step(check_failed, p);
	check_all(check_failed, p);
	CHECK(p->quick > STEPS / 5);
}

TEST(ranges_are_what_happened)
{
	static struct program p = {.random = 7};

	run(check_failed, &p);
}

TEST(probe_cost_is_in_no_range)
{
	static struct program p = {.random = 11, .has_cost = true};

	run(check_failed, &p);
}

__attribute__((constructor)) static void reserve(void)
{
	dw_memory_start();
}

TEST_MAIN()
