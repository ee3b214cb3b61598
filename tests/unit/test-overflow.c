/* A tree without room: what a program that calls at random does is added up by hand, and must equal
 * what tree and overflow nodes say together. */
#include "agent/core/agent-internal.h"
#include "agent/core/memory.h"
#include "agent/core/overflow.h"
#include "agent/core/thread.h"
#include "check.h"
#include "scratch.h"

#include <fcntl.h>

enum {
	FUNCTIONS = 24, /* by key, from 1 on; the last one switches */
	SWITCH = FUNCTIONS - 1,
	SITES = FUNCTIONS * FUNCTIONS,
	MODULES = 3,
	DEPTH_MAX = 60,
	STACKS = 3,
	STACK_BYTES = 1 << 20,
	FRAME_BYTES = 64,
	ARENA_BYTES = 16 << 20,
	EVENTS = 700000,
};

/* Values of one function, module or edge. */
struct values {
	uint64_t calls, exclusive, inclusive, switches;
};

struct totals {
	struct values functions[FUNCTIONS], modules[MODULES], edges[FUNCTIONS][FUNCTIONS];
	struct values sites[SITES]; /* inclusive only */
	uint64_t elapsed;
};

/* A stack of the program: keys, and its own clocks when each began. */
struct stack {
	uint64_t clock;
	uint64_t keys[DEPTH_MAX + 1]; /* [0] is the root */
	uint32_t sites[DEPTH_MAX + 1];
	uint64_t begun[DEPTH_MAX + 1];
	uint32_t n;
};

struct program {
	struct dw_thread t;
	struct stack stacks[STACKS];
	uint32_t current;
	uint64_t random;
	struct totals by_hand;
};

static void forked(void)
{
}

static uint32_t module_of(uint64_t key)
{
	return (uint32_t)(key % MODULES);
}

const struct dw_agent_part dw_agent_part = {
	.forked = forked, .end = forked, .module_of = module_of};

static uint32_t next(struct program *p, uint32_t below)
{
	p->random = p->random * 6364136223846793005 + 1442695040888963407;
	return (uint32_t)(p->random >> 33) % below;
}

/* Where the activation at @depth of stack @i is. */
static uint64_t record_of(uint32_t i, uint32_t depth)
{
	return 0x100000000 + i * (uint64_t)STACK_BYTES - depth * FRAME_BYTES;
}

static uint64_t function_of(uint64_t key)
{
	return key == DWELL_KEY_ROOT ? 0 : key;
}

/* Time passes: to the top of the current stack. */
static void work(struct program *p)
{
	struct dw_interval i = {.elapsed = next(p, 1000), .switches = next(p, 500) == 0};
	struct stack *s = &p->stacks[p->current];
	uint64_t top = s->keys[s->n], caller = s->n ? s->keys[s->n - 1] : 0;

	dw_thread_charge(&p->t, &i);
	s->clock += i.elapsed;
	p->by_hand.elapsed += i.elapsed;
	p->by_hand.functions[top].exclusive += i.elapsed;
	p->by_hand.functions[top].switches += i.switches;
	p->by_hand.modules[top % MODULES].exclusive += top ? i.elapsed : 0;
	p->by_hand.edges[caller][top].exclusive += i.elapsed;
}

/* Add the time of the topmost activation to what it is the outermost of. */
static void end_by_hand(struct program *p)
{
	struct stack *s = &p->stacks[p->current];
	uint64_t key = s->keys[s->n], caller = s->keys[s->n - 1];
	uint64_t time = s->clock - s->begun[s->n];
	bool is_function = true, is_module = true, is_edge = true, is_site = true;

	for (uint32_t i = 1; i < s->n; i++) {
		is_function = is_function && s->keys[i] != key;
		is_module = is_module && s->keys[i] % MODULES != key % MODULES;
		is_edge = is_edge && (s->keys[i] != key || s->keys[i - 1] != caller);
		is_site = is_site && s->sites[i] != s->sites[s->n];
	}
	p->by_hand.functions[key].inclusive += is_function ? time : 0;
	p->by_hand.modules[key % MODULES].inclusive += is_module ? time : 0;
	p->by_hand.edges[caller][key].inclusive += is_edge ? time : 0;
	p->by_hand.sites[s->sites[s->n]].inclusive += is_site ? time : 0;
	s->n--;
}

static void call(bool *check_failed, struct program *p, uint64_t key)
{
	struct stack *s = &p->stacks[p->current];
	bool is_switch = key == SWITCH;
	uint64_t record = record_of(p->current, s->n + 1) - 4 * is_switch;
	struct dw_tree_thread *line = p->t.line;
	struct dw_tree_node *node = NULL;
	uint32_t site = (uint32_t)s->keys[s->n] * FUNCTIONS + next(p, 2); /* of one caller */

	CHECK_INT(dw_stacks_fit(&p->t.stacks, is_switch ? DWELL_AT_OUT : DWELL_AT_ENTER, record),
		  DWELL_FIT_EVENT);
	if (!dw_overflow_is_current(line))
		node = dw_tree_child(&p->t.tree, line->current, key, site);
	if (node) {
		CHECK(dw_stacks_push(&p->t.stacks, node, record, is_switch));
		node->calls++;
	} else {
		CHECK(dw_overflow_push(&p->t.stacks, key, site, record, is_switch));
	}
	p->by_hand.functions[key].calls++;
	p->by_hand.edges[s->keys[s->n]][key].calls++;
	s->n++;
	s->keys[s->n] = key;
	s->sites[s->n] = site;
	s->begun[s->n] = s->clock;
}

static void leave(bool *check_failed, struct program *p)
{
	struct stack *s = &p->stacks[p->current];
	bool is_back = s->keys[s->n] == SWITCH;
	uint64_t record = record_of(p->current, s->n) - 4 * is_back;

	CHECK_INT(dw_stacks_fit(&p->t.stacks, is_back ? DWELL_AT_BACK : DWELL_AT_EXIT, record),
		  DWELL_FIT_EVENT);
	dw_stacks_pop(&p->t.stacks);
	end_by_hand(p);
}

/* Unwind the current stack to @depth, as longjmp() does, and go on in that function. */
static void jump(bool *check_failed, struct program *p, uint32_t depth)
{
	struct stack *s = &p->stacks[p->current];

	CHECK_INT(dw_stacks_fit(&p->t.stacks, DWELL_AT_LANDING,
				record_of(p->current, depth) - FRAME_BYTES / 2),
		  DWELL_FIT_NONE);
	while (s->n > depth)
		end_by_hand(p);
}

/* Go to another stack: what called the switch there comes back, or the stack begins. */
static void change(bool *check_failed, struct program *p)
{
	call(check_failed, p, SWITCH);
	work(p);
	p->current = (p->current + 1 + next(p, STACKS - 1)) % STACKS;
	if (p->stacks[p->current].n)
		leave(check_failed, p);
	else
		call(check_failed, p, 1);
}

static void step(bool *check_failed, struct program *p)
{
	struct stack *s = &p->stacks[p->current];
	uint32_t choice = next(p, 1000);

	if (choice < 4 && s->n > 1 && s->n < DEPTH_MAX) {
		jump(check_failed, p, 1 + next(p, s->n));
	} else if (choice < 8 && s->n && s->n < DEPTH_MAX) {
		change(check_failed, p);
	} else if ((choice < 520 && s->n < DEPTH_MAX) || s->n < 2) {
		call(check_failed, p, 1 + next(p, SWITCH - 1));
	} else {
		leave(check_failed, p);
	}
}

static const struct dw_tree_node *node_at(uint32_t line)
{
	return dw_arena_line(dw_arena_base(), line);
}

static uint64_t switches_of(uint32_t os)
{
	return os ? ((const struct dw_tree_os *)dw_arena_line(dw_arena_base(), os))->switches : 0;
}

/* Add a node of the tree: its time to all that is on its path, once each. */
static void add_node(struct totals *t, const struct dw_tree_node *n)
{
	bool functions[FUNCTIONS] = {false}, modules[MODULES] = {false}, sites[SITES] = {false};
	static bool edges[FUNCTIONS][FUNCTIONS];
	uint64_t key = function_of(n->key), caller = n->parent ? node_at(n->parent)->key : 0;
	bool is_truncated = n->key == DWELL_KEY_TRUNCATED;

	memset(edges, 0, sizeof edges);
	t->elapsed += n->elapsed;
	if (!is_truncated) {
		t->functions[key].calls += n->calls;
		t->functions[key].exclusive += n->elapsed;
		t->functions[key].switches += switches_of(n->os);
		t->modules[key % MODULES].exclusive += key ? n->elapsed : 0;
		t->edges[function_of(caller)][key].calls += n->calls;
		t->edges[function_of(caller)][key].exclusive += n->elapsed;
	}
	for (const struct dw_tree_node *x = is_truncated ? node_at(n->parent) : n; x->parent;
	     x = node_at(x->parent)) {
		functions[x->key] = modules[x->key % MODULES] = sites[x->site] = true;
		edges[function_of(node_at(x->parent)->key)][x->key] = true;
	}
	for (int i = 1; i < FUNCTIONS; i++)
		t->functions[i].inclusive += functions[i] ? n->elapsed : 0;
	for (int i = 0; i < MODULES; i++)
		t->modules[i].inclusive += modules[i] ? n->elapsed : 0;
	for (int i = 0; i < SITES; i++)
		t->sites[i].inclusive += sites[i] ? n->elapsed : 0;
	for (int i = 0; i < FUNCTIONS * FUNCTIONS; i++)
		t->edges[i / FUNCTIONS][i % FUNCTIONS].inclusive +=
			edges[i / FUNCTIONS][i % FUNCTIONS] ? n->elapsed : 0;
}

static void add_overflow(struct totals *t, const struct dw_tree_overflow *x)
{
	struct values *edge = &t->edges[function_of(x->caller)][x->key];

	t->functions[x->key].calls += x->calls;
	t->functions[x->key].exclusive += x->elapsed;
	t->functions[x->key].switches += switches_of(x->os);
	t->modules[x->key % MODULES].exclusive += x->elapsed;
	edge->calls += x->calls;
	edge->exclusive += x->elapsed;
	t->functions[x->key].inclusive +=
		x->outermost & DWELL_OUTERMOST_FUNCTION ? x->inclusive : 0;
	t->modules[x->key % MODULES].inclusive +=
		x->outermost & DWELL_OUTERMOST_MODULE ? x->inclusive : 0;
	edge->inclusive += x->outermost & DWELL_OUTERMOST_EDGE ? x->inclusive : 0;
	t->sites[x->site].inclusive += x->outermost & DWELL_OUTERMOST_SITE ? x->inclusive : 0;
}

/* Add up all lines, as a collector does. The number of overflow nodes. */
static uint32_t read_lines(const struct program *p, struct totals *t)
{
	uint32_t thread = dw_arena_index(dw_arena_base(), p->t.line), n = 0;

	for (uint32_t i = 1; i < dw_agent_region()->arena_lines; i++) {
		const struct dw_tree_overflow *x = dw_arena_line(dw_arena_base(), i);

		if (i == thread) {
			i += 3;
		} else if (x->mark == DWELL_MARK_OVERFLOW) {
			add_overflow(t, x);
			i++;
			n++;
		} else if (x->mark != DWELL_MARK_OS &&
			   (((const struct dw_tree_node *)x)->parent || i == p->t.line->root)) {
			add_node(t, (const struct dw_tree_node *)x);
		}
	}
	return n;
}

static bool start(struct program *p)
{
	struct dw_tree_node *root;
	uint32_t line;

	if (!getcwd(dw_agent.folder, sizeof dw_agent.folder) ||
	    ftruncate(creat(DWELL_REGION_ALIVE, 0600), 4096) || !dw_region_start() ||
	    !dw_arena_start(ARENA_BYTES))
		return false;
	line = dw_arena_take(&p->t.tree.lines, DWELL_THREAD_LINES, DWELL_LINE_OTHER);
	if (!line)
		return false;
	p->t.line = dw_arena_line(dw_arena_base(), line);
	p->t.line->tid = gettid();
	root = dw_tree_start(&p->t.tree, p->t.line);
	if (!root)
		return false;
	return dw_stacks_start(&p->t.stacks, p->t.line, root, record_of(0, 1));
}

TEST(sums_hold_without_room)
{
	static struct program p = {.random = 1};
	static struct totals read;
	uint32_t overflow_n;

	CHECK(start(&p));
	for (int i = 0; i < EVENTS && !*check_failed; i++) {
		work(&p);
		step(check_failed, &p);
	}
	for (int i = 0; i < STACKS; i++)
		for (p.current = (uint32_t)i; p.stacks[i].n;)
			leave(check_failed, &p);
	overflow_n = read_lines(&p, &read);
	CHECK(overflow_n > 1000);
	CHECK_INT(dw_agent_region()->drops[DWELL_DROP_COUNTS], 0);
	CHECK_INT(read.elapsed, p.by_hand.elapsed);
	CHECK(!memcmp(read.functions + 1, p.by_hand.functions + 1,
		      sizeof read.functions - sizeof read.functions[0]));
	CHECK(!memcmp(read.modules, p.by_hand.modules, sizeof read.modules));
	CHECK(!memcmp(read.sites, p.by_hand.sites, sizeof read.sites));
	for (int i = 0; i < FUNCTIONS * FUNCTIONS && !*check_failed; i++)
		if (i % FUNCTIONS)
			CHECK(!memcmp(&read.edges[i / FUNCTIONS][i % FUNCTIONS],
				      &p.by_hand.edges[i / FUNCTIONS][i % FUNCTIONS],
				      sizeof(struct values)));
	dw_stacks_end(&p.t.stacks);
	dw_tree_end(&p.t.tree);
}

/* A block that was taken for something else has room for more, but not for nodes. */
TEST(nodes_leave_room_for_others)
{
	struct dw_lines lines = {0};

	CHECK(dw_agent_region()->arena_base || dw_arena_start(ARENA_BYTES));
	while (dw_arena_take(&lines, 1, DWELL_LINE_NODE))
		;
	CHECK(dw_arena_take(&lines, 1, DWELL_LINE_OTHER));
	CHECK_INT(dw_arena_take(&lines, 1, DWELL_LINE_NODE), 0);
	CHECK(dw_arena_take(&lines, 1, DWELL_LINE_OTHER));
}

__attribute__((constructor)) static void reserve(void)
{
	dw_memory_start();
}

TEST_MAIN()
