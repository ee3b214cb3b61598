/* Cells, which threads have when their trees are full: what a program that calls at random does is
 * added up by hand, and must equal what nodes and cells say together. */
#include "agent/calls/activation.h"

#include "agent/calls/threads.h"
#include "agent/core/agent-internal.h"
#include "agent/core/memory.h"
#include "check.h"
#include "scratch.h"

#include <fcntl.h>

enum {
	FUNCTIONS = 12, /* by key, from 1 on; the last one switches stacks */
	SWITCH = FUNCTIONS - 1,
	SITES = 2, /* of each pair of functions */
	DEPTH_MAX = 40,
	STACKS = 3,
	STACK_BYTES = 1 << 20,
	FRAME_BYTES = 64,
	ARENA_BYTES = 1 << 20,
	STEPS = 150000,
	CALLEE_TICKS = 7, /* of probes */
	CALLER_TICKS = 5,
};

/* Of one cell. */
struct values {
	uint64_t calls[DWELL_INNER_KINDS + 1], exclusive, switches; /* the last: neither of them */
	uint64_t inclusive[DWELL_INNER_KINDS], probes[DWELL_INNER_KINDS];
	struct dw_tree_os os[DWELL_INNER_KINDS];
};

struct totals {
	struct values cells[FUNCTIONS][FUNCTIONS][SITES]; /* by caller, callee, site */
	uint64_t calls[FUNCTIONS][FUNCTIONS][SITES];	  /* with those of the tree */
	uint64_t exclusive[FUNCTIONS], inclusive[FUNCTIONS];
};

/* An open call: by its stack's own clock. */
struct open {
	uint32_t key, site;
	uint64_t begun, counted; /* since the change only: the second */
	uint64_t pairs;		 /* that had ended then */
	struct dw_tree_os os;	 /* since the change */
};

struct stack {
	uint64_t clock, pairs;
	struct open open[DEPTH_MAX + 1]; /* [0] is the root */
	uint32_t n;
};

struct program {
	struct dw_thread t;
	struct stack stacks[STACKS];
	uint32_t current;
	uint64_t random, tsc;
	bool has_cost;
	uint32_t jumps, changes, repeated; /* that were made */
	struct totals by_hand;
};

static void nothing(void)
{
}

const struct dw_agent_part dw_agent_part = {.forked = nothing, .end = nothing};

static uint32_t next(struct program *p, uint32_t below)
{
	p->random = p->random * 6364136223846793005 + 1442695040888963407;
	return (uint32_t)(p->random >> 33) % below;
}

static struct stack *current(struct program *p)
{
	return &p->stacks[p->current];
}

/* Where the activation at @depth of stack @i is. */
static uint64_t record_of(uint32_t i, uint32_t depth)
{
	return 0x100000000 + i * (uint64_t)STACK_BYTES - depth * FRAME_BYTES;
}

static bool start(struct program *p)
{
	struct dw_tree_thread *line;
	struct dw_tree_node *root;
	uint32_t at;

	if (!dw_agent_region()->arena_base && !dw_arena_start(ARENA_BYTES))
		return false;
	at = dw_arena_take(&p->t.tree.lines, DWELL_THREAD_LINES, DWELL_LINE_OTHER);
	line = p->t.line = dw_arena_line(dw_arena_base(), at);
	root = at ? dw_tree_start(&p->t.tree, line) : NULL;
	if (!root)
		return false;
	line->tid = gettid();
	for (int i = 0; i < DWELL_PAIR_KINDS && p->has_cost; i++) {
		line->callee_ticks[i] = CALLEE_TICKS;
		line->pair_ticks[i] = CALLEE_TICKS + CALLER_TICKS;
	}
	dw_extremes_start(&p->t.extremes, line);
	p->t.stacks.extremes = &p->t.extremes;
	p->tsc = 1ull << 40;
	return dw_stacks_start(&p->t.stacks, line, root, record_of(0, 1));
}

static void finish(struct program *p)
{
	dw_stacks_end(&p->t.stacks);
	dw_tree_end(&p->t.tree);
}

/* What is open by hand goes on as of cells. What the probes of callees have taken up to here is
 * taken off as they end. */
static void change_by_hand(struct program *p)
{
	for (int i = 0; i < STACKS; i++) {
		struct stack *s = &p->stacks[i];

		for (uint32_t k = 1; k <= s->n; k++) {
			s->open[k].counted =
				s->clock + (p->has_cost ? CALLEE_TICKS * (s->n - k) : 0);
			s->open[k].pairs = s->pairs;
			s->open[k].os = (struct dw_tree_os){0};
		}
	}
}

static bool make_cells(struct program *p)
{
	struct dw_tree_node *root = dw_tree_make_cells(&p->t.tree, p->t.line, &p->t.extremes);

	if (!root)
		return false;
	dw_stacks_at(&p->t.stacks, p->tsc);
	dw_cells_begin(&p->t.stacks, &p->t.tree, root);
	change_by_hand(p);
	return true;
}

static struct values *values_of(struct program *p, const struct open *o)
{
	return &p->by_hand.cells[o[-1].key][o->key][o->site % SITES];
}

/* Time passes; now and then the system does something. */
static void work(struct program *p)
{
	struct stack *s = current(p);
	struct dw_interval i = {.elapsed = next(p, 1000)};
	struct dw_tree_os os = {0};

	if (!next(p, 100)) {
		i.os = next(p, (uint32_t)i.elapsed + 1);
		i.os_blocked = i.os / 3;
		i.os_ready = i.os_blocked / 2;
		i.os_cpu = i.os - i.os_blocked;
		i.os_probe = i.elapsed;
		i.os_kind = (enum dw_os_kind)next(p, DWELL_OS_KINDS);
		i.switches = 1 + next(p, 2);
		i.io_calls = next(p, 2);
		i.blocking_calls = next(p, 3);
		os = (struct dw_tree_os){.ticks = i.os,
					 .probe_ticks = i.os_probe,
					 .cpu_ticks = i.os_cpu,
					 .blocked_ticks = i.os_blocked,
					 .ready_ticks = i.os_ready,
					 .switches = i.switches,
					 .io_calls = i.io_calls,
					 .blocking_calls = i.blocking_calls};
	}
	dw_thread_charge(&p->t, &i);
	p->tsc += i.elapsed;
	s->clock += i.elapsed;
	for (uint32_t k = 1; k <= s->n; k++)
		dw_tree_os_add(&s->open[k].os, &os);
	p->by_hand.exclusive[s->open[s->n].key] += i.elapsed;
	if (s->n && p->t.line->has_cells) {
		values_of(p, &s->open[s->n])->exclusive += i.elapsed;
		values_of(p, &s->open[s->n])->switches += i.switches;
	}
}

/* What of the call on top counts: as enum, or DWELL_INNER_KINDS where nothing does. */
static int kind_of(const struct stack *s)
{
	const struct open *top = &s->open[s->n];
	int kind = DWELL_OUTERMOST;

	for (const struct open *o = s->open + 1; o < top; o++) {
		if (o->key != top->key)
			continue;
		kind = DWELL_REPEATED;
		if (o->site == top->site)
			return DWELL_INNER_KINDS;
	}
	return kind;
}

/* The call on top ends. */
static void end_by_hand(struct program *p)
{
	struct stack *s = current(p);
	struct open *o = &s->open[s->n];
	int kind = kind_of(s);

	if (kind == DWELL_OUTERMOST)
		p->by_hand.inclusive[o->key] += s->clock - o->begun;
	if (p->t.line->has_cells && kind != DWELL_INNER_KINDS) {
		struct values *v = values_of(p, o);

		v->inclusive[kind] += s->clock - o->counted;
		v->probes[kind] +=
			p->has_cost ? (CALLEE_TICKS + CALLER_TICKS) * (s->pairs - o->pairs) : 0;
		dw_tree_os_add(&v->os[kind], &o->os);
	}
	s->n--;
	s->pairs++;
}

static void call(bool *check_failed, struct program *p, uint32_t key)
{
	struct stack *s = current(p);
	bool is_switch = key == SWITCH;
	uint64_t record = record_of(p->current, s->n + 1) - 4 * is_switch;
	struct dw_tree_thread *line = p->t.line;
	uint32_t caller = s->open[s->n].key;
	uint32_t site = 1 + (caller * FUNCTIONS + key) * SITES + next(p, SITES);
	struct dw_tree_node *node;

	dw_stacks_at(&p->t.stacks, p->tsc);
	CHECK_INT(dw_stacks_fit(&p->t.stacks, is_switch ? DWELL_AT_OUT : DWELL_AT_ENTER, record),
		  DWELL_FIT_EVENT);
	node = dw_tree_child(&p->t.tree, line->current, key, site);
	if (!node && !line->has_cells && make_cells(p)) {
		p->repeated = 0;
		node = dw_tree_child(&p->t.tree, line->current, key, site);
	}
	CHECK(node);
	if (!node)
		return;
	CHECK_INT(node->key, key);
	dw_extremes_expect(&p->t.extremes, key, 0);
	CHECK(dw_stacks_push(&p->t.stacks, node, record, is_switch));
	p->by_hand.calls[caller][key][site % SITES]++;
	s->n++;
	s->open[s->n] = (struct open){.key = key,
				      .site = site,
				      .begun = s->clock,
				      .counted = s->clock,
				      .pairs = s->pairs};
	if (line->has_cells)
		values_of(p, &s->open[s->n])->calls[kind_of(s)]++;
	p->repeated += kind_of(s) == DWELL_REPEATED;
	p->tsc += p->has_cost ? CALLEE_TICKS : 0;
}

static void leave(bool *check_failed, struct program *p)
{
	struct stack *s = current(p);
	bool is_return = s->open[s->n].key == SWITCH;
	uint64_t record = record_of(p->current, s->n) - 4 * is_return;

	dw_stacks_at(&p->t.stacks, p->tsc);
	CHECK_INT(dw_stacks_fit(&p->t.stacks, is_return ? DWELL_AT_RETURN : DWELL_AT_EXIT, record),
		  DWELL_FIT_EVENT);
	dw_stacks_pop(&p->t.stacks);
	end_by_hand(p);
	p->tsc += p->has_cost ? CALLER_TICKS : 0;
}

/* Unwind the current stack to @depth, as longjmp() does, and go on in that function. */
static void jump(bool *check_failed, struct program *p, uint32_t depth)
{
	dw_stacks_at(&p->t.stacks, p->tsc);
	CHECK_INT(dw_stacks_fit(&p->t.stacks, DWELL_AT_LANDING,
				record_of(p->current, depth) - FRAME_BYTES / 2),
		  DWELL_FIT_NONE);
	while (current(p)->n > depth)
		end_by_hand(p);
	p->jumps++;
}

/* Go to another stack: what called the switch there comes back, or the stack begins. */
static void change(bool *check_failed, struct program *p)
{
	call(check_failed, p, SWITCH);
	work(p);
	p->current = (p->current + 1 + next(p, STACKS - 1)) % STACKS;
	if (current(p)->n)
		leave(check_failed, p);
	else
		call(check_failed, p, 1);
	p->changes++;
}

static void step(bool *check_failed, struct program *p)
{
	struct stack *s = current(p);
	uint32_t choice = next(p, 1000);

	if (choice < 4 && s->n > 1 && s->n < DEPTH_MAX && !p->has_cost) {
		jump(check_failed, p, 1 + next(p, s->n));
	} else if (choice < 8 && s->n && s->n < DEPTH_MAX) {
		change(check_failed, p);
	} else if (choice < 10) {
		if (p->t.line->has_cells)
			dw_cells_publish(&p->t.stacks);
	} else if ((choice < 510 && s->n < DEPTH_MAX) || s->n < 2) {
		call(check_failed, p, 1 + next(p, SWITCH - 1));
	} else {
		leave(check_failed, p);
	}
}

static void leave_all(bool *check_failed, struct program *p)
{
	for (p->current = 0; p->current < STACKS; p->current++)
		while (current(p)->n && !*check_failed)
			leave(check_failed, p);
	p->current = 0;
}

static const void *line_at(uint32_t line)
{
	return dw_arena_line(dw_arena_base(), line);
}

static uint32_t function_of(uint64_t key)
{
	return key == DWELL_KEY_ROOT ? 0 : (uint32_t)key;
}

/* A node of the tree: its time is that of all functions on its path, once each. */
static void add_node(struct totals *t, const struct dw_tree_node *n)
{
	const struct dw_tree_node *parent = n->parent ? line_at(n->parent) : NULL;
	bool functions[FUNCTIONS] = {false};

	t->exclusive[function_of(n->key)] += n->elapsed;
	if (parent)
		t->calls[function_of(parent->key)][n->key][n->site % SITES] += n->calls;
	for (const struct dw_tree_node *x = n; x->parent; x = line_at(x->parent))
		functions[x->key] = true;
	for (int i = 1; i < FUNCTIONS; i++)
		t->inclusive[i] += functions[i] ? n->elapsed : 0;
}

static uint64_t switches_of(uint32_t os)
{
	return os ? ((const struct dw_tree_os *)line_at(os))->switches : 0;
}

static void add_cell(struct totals *t, const struct dw_tree_cell *c)
{
	static const struct dw_tree_inner none;
	const struct dw_tree_inner *inner = c->inner ? line_at(c->inner) : &none;
	const struct dw_tree_callee *caller = line_at(c->caller);
	struct values *v;

	t->exclusive[function_of(c->key)] += c->elapsed;
	if (c->key == DWELL_KEY_ROOT)
		return;
	t->calls[function_of(caller->key)][c->key][c->site % SITES] +=
		c->calls + inner->repeated + inner->others;
	t->inclusive[c->key] += c->inclusive;
	v = &t->cells[function_of(caller->key)][c->key][c->site % SITES];
	v->calls[DWELL_OUTERMOST] = c->calls;
	v->calls[DWELL_REPEATED] = inner->repeated;
	v->calls[DWELL_INNER_KINDS] = inner->others;
	v->exclusive = c->elapsed;
	v->switches = switches_of(c->os);
	v->inclusive[DWELL_OUTERMOST] = c->inclusive;
	v->probes[DWELL_OUTERMOST] = c->probes;
	v->inclusive[DWELL_REPEATED] = inner->inclusive;
	v->probes[DWELL_REPEATED] = inner->probes;
	memcpy(v->os, inner->os, sizeof v->os);
}

static uint64_t mark_at(uint32_t line)
{
	return ((const uint64_t *)line_at(line))[7];
}

/* Add up the lines of the thread, as a collector does. The number of its cells. */
static uint32_t read_lines(const struct program *p, struct totals *t)
{
	uint32_t thread = dw_arena_index(dw_arena_base(), p->t.line), cells = 0;

	for (uint32_t i = thread + DWELL_THREAD_LINES; i < dw_agent_region()->arena_lines; i++) {
		const struct dw_tree_node *n = line_at(i);
		uint64_t mark = mark_at(i);

		if (mark == DWELL_MARK_EXTREMES || mark == DWELL_MARK_CALLEE ||
		    mark == DWELL_MARK_DRAWN) {
			i++;
		} else if (mark == DWELL_MARK_INNER) {
			i += 2;
		} else if (mark == DWELL_MARK_OS) {
			continue;
		} else if (n->parent && mark_at(n->parent) == DWELL_MARK_CALLEE) {
			add_cell(t, (const struct dw_tree_cell *)n);
			cells++;
		} else if (n->parent || i == p->t.line->root) {
			add_node(t, n);
		}
	}
	return cells;
}

/* Both must agree; @check_failed says so. */
static void compare(bool *check_failed, const struct totals *read, const struct totals *by_hand)
{
	for (int i = 0; i < FUNCTIONS * FUNCTIONS * SITES && !*check_failed; i++) {
		const struct values *got = &read->cells[0][0][0] + i;
		const struct values *want = &by_hand->cells[0][0][0] + i;

		for (int k = 0; k <= DWELL_INNER_KINDS; k++)
			CHECK_INT(got->calls[k], want->calls[k]);
		CHECK_INT(got->exclusive, want->exclusive);
		CHECK_INT(got->switches, want->switches);
		for (int k = 0; k < DWELL_INNER_KINDS; k++) {
			CHECK_INT(got->inclusive[k], want->inclusive[k]);
			CHECK_INT(got->probes[k], want->probes[k]);
			CHECK_INT(got->os[k].ticks, want->os[k].ticks);
			CHECK_INT(got->os[k].switches, want->os[k].switches);
			CHECK(!memcmp(&got->os[k], &want->os[k], sizeof got->os[k]));
		}
	}
	CHECK(!memcmp(read->calls, by_hand->calls, sizeof read->calls));
	CHECK(!memcmp(read->exclusive, by_hand->exclusive, sizeof read->exclusive));
}

/* Call at random; the tree has at most @nodes nodes. */
static void run(bool *check_failed, struct program *p, uint32_t nodes)
{
	static struct totals read;
	uint32_t cells;

	read = (struct totals){0};
	dw_tree_limit(nodes);
	CHECK(start(p));
	for (int i = 0; i < STEPS && !*check_failed; i++) {
		work(p);
		step(check_failed, p);
	}
	leave_all(check_failed, p);
	cells = read_lines(p, &read);
	CHECK(p->t.line->has_cells);
	CHECK(cells > FUNCTIONS * FUNCTIONS && cells <= FUNCTIONS * FUNCTIONS * SITES + 1);
	CHECK(p->repeated > 1000 && p->changes > 100);
	CHECK_INT(dw_agent_region()->drops[DWELL_DROP_COUNTS], 0);
	compare(check_failed, &read, &p->by_hand);
	if (!p->has_cost)
		CHECK(!memcmp(read.inclusive, p->by_hand.inclusive, sizeof read.inclusive));
	finish(p);
}

TEST(sums_hold_without_nodes)
{
	static struct program p = {.random = 1};

	run(check_failed, &p, 0);
	CHECK(p.jumps > 100);
}

TEST(sums_hold_beside_nodes)
{
	static struct program p = {.random = 2};

	run(check_failed, &p, 64);
	CHECK(p.jumps > 100);
}

TEST(sums_leave_probes_out)
{
	static struct program p = {.random = 3, .has_cost = true};

	run(check_failed, &p, 64);
	CHECK(p.t.line->cost > 0);
}

/* The sums of the cell of calls by @caller of @key from @site; NULL = there is none. */
static const struct dw_tree_cell *cell_of(const struct program *p, uint32_t caller, uint32_t key,
					  uint32_t site)
{
	uint32_t thread = dw_arena_index(dw_arena_base(), p->t.line);

	for (uint32_t i = thread + DWELL_THREAD_LINES; i < dw_agent_region()->arena_lines; i++) {
		const struct dw_tree_cell *c = line_at(i);
		const struct dw_tree_callee *by = line_at(c->caller);

		if (c->caller && c->caller < dw_agent_region()->arena_lines &&
		    mark_at(c->caller) == DWELL_MARK_CALLEE && c->key == key && c->site == site &&
		    by->thread == thread && function_of(by->key) == caller)
			return c;
	}
	return NULL;
}

/* A thread that has cells and no nodes. */
static void start_cells(bool *check_failed, struct program *p)
{
	*p = (struct program){0};
	dw_tree_limit(0);
	CHECK(start(p) && make_cells(p));
}

static void spend(struct program *p, uint64_t ticks)
{
	struct dw_interval i = {.elapsed = ticks};

	dw_thread_charge(&p->t, &i);
	p->tsc += ticks;
}

/* Call @key from @site, at @depth of the first stack. */
static void enter(bool *check_failed, struct program *p, uint32_t key, uint32_t site,
		  uint32_t depth)
{
	struct dw_tree_node *node;

	dw_stacks_at(&p->t.stacks, p->tsc);
	CHECK_INT(dw_stacks_fit(&p->t.stacks, DWELL_AT_ENTER, record_of(0, depth)),
		  DWELL_FIT_EVENT);
	node = dw_tree_child(&p->t.tree, p->t.line->current, key, site);
	CHECK(node && dw_stacks_push(&p->t.stacks, node, record_of(0, depth), false));
}

static void leave_at(bool *check_failed, struct program *p, uint32_t depth)
{
	dw_stacks_at(&p->t.stacks, p->tsc);
	CHECK_INT(dw_stacks_fit(&p->t.stacks, DWELL_AT_EXIT, record_of(0, depth)), DWELL_FIT_EVENT);
	dw_stacks_pop(&p->t.stacks);
}

/* 1 > 2 (from 10) > 2 (from 20) > 2 (from 20): the second is repeated, the third counts nowhere. */
TEST(each_cell_counts_its_outermost_activation)
{
	static struct program p;
	const struct dw_tree_cell *first, *second;
	const struct dw_tree_inner *inner;

	start_cells(check_failed, &p);
	enter(check_failed, &p, 1, 1, 1);
	enter(check_failed, &p, 2, 10, 2);
	first = cell_of(&p, 1, 2, 10);
	for (uint32_t depth = 3; depth < 5; depth++) {
		spend(&p, 100);
		enter(check_failed, &p, 2, 20, depth);
	}
	second = cell_of(&p, 2, 2, 20);
	CHECK(first && second && second->inner && !first->inner);
	inner = line_at(second->inner);
	CHECK_INT(inner->mark, DWELL_MARK_INNER);
	CHECK(inner->open);
	spend(&p, 50);
	leave_at(check_failed, &p, 4);
	CHECK_INT(inner->inclusive, 0);
	spend(&p, 5);
	leave_at(check_failed, &p, 3);
	CHECK_INT(inner->inclusive, 100 + 50 + 5);
	CHECK_INT(inner->open, 0);
	CHECK_INT(first->inclusive, 0);
	leave_at(check_failed, &p, 2);
	CHECK_INT(first->inclusive, 255);
	CHECK_INT(second->inclusive, 0);
	CHECK_INT(second->calls, 0);
	CHECK_INT(inner->repeated, 1);
	CHECK_INT(inner->others, 1);
	/* Nothing is open: now it is the outermost. */
	leave_at(check_failed, &p, 1);
	enter(check_failed, &p, 2, 3, 1);
	enter(check_failed, &p, 3, 4, 2);
	spend(&p, 7);
	leave_at(check_failed, &p, 2);
	leave_at(check_failed, &p, 1);
	CHECK_INT(cell_of(&p, 0, 2, 3)->inclusive, 7);
	finish(&p);
}

/* The path of @parent and then the cell of calls by @caller of @key from @site. */
static uint32_t drawn(struct program *p, uint32_t parent, uint32_t caller, uint32_t key,
		      uint32_t site)
{
	const struct dw_tree_cell *cell = cell_of(p, caller, key, site);

	return cell ? dw_tree_drawn(&p->t.tree, parent, dw_arena_index(dw_arena_base(), cell)) : 0;
}

/* As in trees: the second 1 by 2 has nothing on its path that the first has not, so what goes on
 * from there stands where it does from the first. */
TEST(recursion_is_folded_in_paths)
{
	static struct program p;
	uint32_t one, two, first, deeper, second;

	start_cells(check_failed, &p);
	enter(check_failed, &p, 1, 10, 1);
	enter(check_failed, &p, 2, 11, 2);
	enter(check_failed, &p, 1, 12, 3);
	one = drawn(&p, dw_tree_drawn(&p.t.tree, 0, p.t.tree.cells), 0, 1, 10);
	two = drawn(&p, one, 1, 2, 11);
	first = drawn(&p, two, 2, 1, 12);
	deeper = drawn(&p, first, 1, 2, 11);
	second = drawn(&p, deeper, 2, 1, 12);
	CHECK(one && two && first && deeper && second);
	CHECK(deeper != two && second != first);
	CHECK_INT(drawn(&p, second, 1, 2, 11), deeper);
	for (uint32_t depth = 3; depth; depth--)
		leave_at(check_failed, &p, depth);
	finish(&p);
}

/* As if all that is open ended now, as often as is liked. */
TEST(open_activations_are_published)
{
	static struct program p;
	const struct dw_tree_cell *outer, *inner;

	start_cells(check_failed, &p);
	enter(check_failed, &p, 1, 1, 1);
	spend(&p, 10);
	enter(check_failed, &p, 2, 2, 2);
	spend(&p, 20);
	outer = cell_of(&p, 0, 1, 1);
	inner = cell_of(&p, 1, 2, 2);
	for (int i = 0; i < 3; i++) {
		dw_stacks_at(&p.t.stacks, p.tsc);
		dw_cells_publish(&p.t.stacks);
		CHECK_INT(outer->inclusive, 30);
		CHECK_INT(inner->inclusive, 20);
	}
	spend(&p, 1);
	leave_at(check_failed, &p, 2);
	CHECK_INT(outer->inclusive, 30);
	CHECK_INT(inner->inclusive, 21);
	leave_at(check_failed, &p, 1);
	CHECK_INT(outer->inclusive, 31);
	finish(&p);
}

TEST(what_was_none_adds_nothing)
{
	static struct program p;

	start_cells(check_failed, &p);
	enter(check_failed, &p, 1, 1, 1);
	enter(check_failed, &p, 2, 2, 2);
	spend(&p, 20);
	dw_stacks_at(&p.t.stacks, p.tsc);
	dw_stacks_take_back(&p.t.stacks);
	CHECK_INT(cell_of(&p, 1, 2, 2)->inclusive, 0);
	/* The next one is the outermost again, one below it that is none changes nothing of it. */
	enter(check_failed, &p, 2, 2, 2);
	spend(&p, 3);
	enter(check_failed, &p, 2, 4, 3);
	spend(&p, 4);
	dw_stacks_take_back(&p.t.stacks);
	spend(&p, 5);
	leave_at(check_failed, &p, 2);
	CHECK_INT(cell_of(&p, 1, 2, 2)->inclusive, 3 + 4 + 5);
	leave_at(check_failed, &p, 1);
	CHECK_INT(cell_of(&p, 0, 1, 1)->inclusive, 20 + 12);
	finish(&p);
}

static bool is_two(const struct dw_tree_node *node)
{
	return node->key == 2;
}

/* What is taken out has ended; what it called goes on. */
TEST(activations_that_count_no_more_end)
{
	static struct program p;

	start_cells(check_failed, &p);
	enter(check_failed, &p, 1, 1, 1);
	enter(check_failed, &p, 2, 2, 2);
	spend(&p, 10);
	enter(check_failed, &p, 3, 3, 3);
	spend(&p, 20);
	dw_stacks_at(&p.t.stacks, p.tsc);
	dw_stacks_drop(&p.t.stacks, is_two);
	CHECK_INT(cell_of(&p, 1, 2, 2)->inclusive, 30);
	spend(&p, 40);
	leave_at(check_failed, &p, 3);
	CHECK_INT(cell_of(&p, 2, 3, 3)->inclusive, 60);
	leave_at(check_failed, &p, 1);
	CHECK_INT(cell_of(&p, 1, 2, 2)->inclusive, 30);
	CHECK_INT(cell_of(&p, 0, 1, 1)->inclusive, 70);
	enter(check_failed, &p, 2, 9, 1);
	spend(&p, 1);
	leave_at(check_failed, &p, 1);
	CHECK_INT(cell_of(&p, 0, 2, 9)->inclusive, 1);
	finish(&p);
}

/* A handler on a stack of its own, in a function that is at a statement, when the tree is full. */
TEST(handlers_and_statements_go_on_as_cells)
{
	static struct program p;
	uint64_t line = DWELL_KEY_LINE | 77;
	struct dw_tree_node *statement;
	const struct dw_shadow *top;

	p = (struct program){0};
	dw_tree_limit(UINT32_MAX);
	CHECK(start(&p));
	enter(check_failed, &p, 1, 1, 1);
	statement = dw_tree_child(&p.t.tree, p.t.line->current, line, 0);
	dw_stacks_set_line(&p.t.stacks, statement);
	spend(&p, 100);
	CHECK(dw_stacks_handler_begin(&p.t.stacks, record_of(2, 0)));
	spend(&p, 10); /* the statement's still */
	CHECK(make_cells(&p));
	top = p.t.line->top;
	CHECK(top->node == p.t.line->current && top->node->key == line);
	CHECK_INT(top->function->key, 1);
	spend(&p, 1);
	CHECK(dw_stacks_handler_end(&p.t.stacks, record_of(2, 0)));
	CHECK_INT(p.t.line->current->key, line);
	spend(&p, 2);
	leave_at(check_failed, &p, 1);
	CHECK_INT(statement->elapsed, 110);
	CHECK_INT(cell_of(&p, 0, 1, 1)->inclusive, 3);
	CHECK_INT(cell_of(&p, 0, 1, 1)->elapsed, 0);
	CHECK_INT(p.t.line->current->key, DWELL_KEY_ROOT);
	CHECK(p.t.line->current != (struct dw_tree_node *)line_at(p.t.line->root));
	finish(&p);
}

static void wait_for(struct program *p, uint64_t ticks)
{
	struct dw_interval i = {.elapsed = ticks,
				.os = ticks,
				.os_probe = ticks,
				.os_blocked = ticks,
				.switches = 1,
				.os_kind = DWELL_OS_SWITCHED};

	dw_thread_charge(&p->t, &i);
	p->tsc += ticks;
}

/* What the system did before there were cells is the nodes'. */
TEST(system_counts_from_the_change_on)
{
	static struct program p;
	const struct dw_tree_inner *outer, *inner;

	p = (struct program){0};
	dw_tree_limit(UINT32_MAX);
	CHECK(start(&p));
	enter(check_failed, &p, 1, 1, 1);
	wait_for(&p, 1000);
	enter(check_failed, &p, 2, 2, 2);
	wait_for(&p, 500);
	CHECK(make_cells(&p));
	wait_for(&p, 30);
	spend(&p, 5);
	leave_at(check_failed, &p, 2);
	inner = line_at(cell_of(&p, 1, 2, 2)->inner);
	CHECK_INT(inner->os[DWELL_OUTERMOST].ticks, 30);
	CHECK_INT(inner->os[DWELL_OUTERMOST].blocked_ticks, 30);
	CHECK_INT(inner->os[DWELL_OUTERMOST].switches, 1);
	CHECK_INT(cell_of(&p, 1, 2, 2)->inclusive, 35);
	wait_for(&p, 4);
	leave_at(check_failed, &p, 1);
	outer = line_at(cell_of(&p, 0, 1, 1)->inner);
	CHECK_INT(outer->os[DWELL_OUTERMOST].ticks, 34);
	CHECK_INT(outer->os[DWELL_OUTERMOST].switches, 2);
	CHECK_INT(outer->os[DWELL_REPEATED].ticks, 0);
	CHECK_INT(cell_of(&p, 0, 1, 1)->inclusive, 39);
	finish(&p);
}

/* What the program itself has taken of the outermost activations of a cell, as a collector has it.
 */
static uint64_t application_of(const struct dw_tree_cell *c)
{
	const struct dw_tree_inner *inner = c->inner ? line_at(c->inner) : NULL;

	return c->inclusive - (inner ? inner->os[DWELL_OUTERMOST].ticks : 0);
}

/* The program's time never falls: a collector cannot take back what it has written down. */
TEST(the_systems_time_is_published_with_all)
{
	static struct program p;

	start_cells(check_failed, &p);
	enter(check_failed, &p, 1, 1, 1);
	wait_for(&p, 1000);
	spend(&p, 10);
	enter(check_failed, &p, 2, 2, 2);
	wait_for(&p, 500);
	spend(&p, 3);
	for (int i = 0; i < 3; i++) {
		dw_stacks_at(&p.t.stacks, p.tsc);
		dw_cells_publish(&p.t.stacks);
		CHECK_INT(application_of(cell_of(&p, 1, 2, 2)), 3);
		CHECK_INT(application_of(cell_of(&p, 0, 1, 1)), 13);
	}
	wait_for(&p, 20);
	leave_at(check_failed, &p, 2);
	CHECK_INT(application_of(cell_of(&p, 1, 2, 2)), 3);
	CHECK_INT(cell_of(&p, 1, 2, 2)->inclusive, 523);
	dw_cells_publish(&p.t.stacks);
	CHECK_INT(application_of(cell_of(&p, 0, 1, 1)), 13);
	leave_at(check_failed, &p, 1);
	CHECK_INT(cell_of(&p, 0, 1, 1)->inclusive, 1533);
	CHECK_INT(application_of(cell_of(&p, 0, 1, 1)), 13);
	finish(&p);
}

/* Nor while another stack runs. */
TEST(the_systems_time_is_known_of_stacks_that_are_left)
{
	static struct program p;

	start_cells(check_failed, &p);
	enter(check_failed, &p, 1, 1, 1);
	wait_for(&p, 1000);
	spend(&p, 10);
	p.stacks[0].n = 1;
	call(check_failed, &p, SWITCH);
	p.current = 1;
	call(check_failed, &p, 1);
	CHECK_INT(application_of(cell_of(&p, 0, 1, 1)), 10);
	finish(&p);
}

/* 1 > 3, 2 > 3 > 3: where there is no room for cells of calls, 3 has one for all of them. */
static void count_for_callees(bool *check_failed)
{
	static struct program p;
	struct dw_lines lines = {0};
	const struct dw_tree_cell *cell;
	uint64_t drops = dw_agent_region()->drops[DWELL_DROP_COUNTS];

	start_cells(check_failed, &p);
	enter(check_failed, &p, 1, 1, 1);
	while (dw_arena_take(&lines, 1, DWELL_LINE_CELL))
		;
	while (dw_arena_take(&p.t.tree.lines, 1, DWELL_LINE_CELL))
		;
	CHECK(dw_arena_take(&lines, 64, DWELL_LINE_OTHER)); /* the last block for both */
	enter(check_failed, &p, 3, 3, 2);
	cell = cell_of(&p, 0, 3, DWELL_SITE_NONE);
	CHECK(cell && !cell_of(&p, 1, 3, 3));
	spend(&p, 5);
	leave_at(check_failed, &p, 2);
	leave_at(check_failed, &p, 1);
	enter(check_failed, &p, 2, 2, 1);
	spend(&p, 1);
	enter(check_failed, &p, 3, 7, 2);
	spend(&p, 10);
	enter(check_failed, &p, 3, 8, 3);
	spend(&p, 100);
	leave_at(check_failed, &p, 3);
	leave_at(check_failed, &p, 2);
	leave_at(check_failed, &p, 1);
	CHECK_INT(cell->calls, 2);
	CHECK_INT(((const struct dw_tree_inner *)line_at(cell->inner))->others, 1);
	CHECK_INT(cell->elapsed, 115);
	CHECK_INT(cell->inclusive, 115);
	cell = cell_of(&p, 0, 2, DWELL_SITE_NONE);
	CHECK(cell);
	CHECK_INT(cell->elapsed, 1);
	CHECK_INT(cell->inclusive, 111);
	CHECK_INT(cell_of(&p, 0, 1, 1)->inclusive, 5);
	CHECK_INT(dw_agent_region()->drops[DWELL_DROP_COUNTS], drops);
	finish(&p);
}

/* Last: it leaves no room. First only for some, then for nothing. */
TEST(room_runs_out)
{
	static struct program p;
	struct dw_lines lines = {0};
	struct dw_tree_node *before;
	uint64_t drops = dw_agent_region()->drops[DWELL_DROP_COUNTS];

	p = (struct program){0};
	dw_tree_limit(UINT32_MAX);
	CHECK(start(&p));
	enter(check_failed, &p, 1, 1, 1);
	enter(check_failed, &p, 2, 2, 2);
	count_for_callees(check_failed);
	while (dw_arena_take(&lines, 1, DWELL_LINE_OTHER))
		;
	/* What it has of its own. */
	while (dw_arena_take(&p.t.tree.lines, 1, DWELL_LINE_OTHER))
		;
	before = p.t.line->current;
	CHECK(!dw_tree_make_cells(&p.t.tree, p.t.line, &p.t.extremes));
	CHECK_INT(p.t.line->has_cells, 0);
	CHECK(dw_tree_child(&p.t.tree, dw_arena_line(dw_arena_base(), p.t.line->root), 1, 1));
	CHECK(!dw_tree_child(&p.t.tree, before, 3, 3));
	/* Room for the root and one callee, no more: what has no cell is what called it. */
	p.t.tree.lines = (struct dw_lines){lines.end - 6, lines.end};
	memset(dw_arena_line(dw_arena_base(), lines.end - 6), 0, 6 * (size_t)DWELL_LINE_BYTES);
	CHECK(make_cells(&p));
	CHECK_INT(dw_agent_region()->drops[DWELL_DROP_COUNTS], drops + 1);
	CHECK(!cell_of(&p, 0, 1, 1));
	CHECK(cell_of(&p, 0, 1, DWELL_SITE_NONE));
	CHECK_INT(p.t.line->current->key, 1);
	spend(&p, 10);
	leave_at(check_failed, &p, 2);
	spend(&p, 1);
	leave_at(check_failed, &p, 1);
	CHECK_INT(cell_of(&p, 0, 1, DWELL_SITE_NONE)->elapsed, 11);
	CHECK_INT(cell_of(&p, 0, 1, DWELL_SITE_NONE)->inclusive, 11);
	CHECK(!dw_tree_child(&p.t.tree, p.t.line->current, 5, 5));
	finish(&p);
}

__attribute__((constructor)) static void start_region(void)
{
	dw_memory_start();
	if (!getcwd(dw_agent.folder, sizeof dw_agent.folder) ||
	    ftruncate(creat(DWELL_REGION_ALIVE, 0600), 4096) || !dw_region_start())
		abort();
}

TEST_MAIN()
