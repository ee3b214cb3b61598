/*
 * Measuring the trampolines; see calibrate.h.
 *
 * Each of the two nodes of a loop with next to nothing in it gets the time that probes take off the
 * caller and the callee, less the loop's own; of the quickest of some rounds. What probes take
 * where they let a call pass is measured without others around: the clock's readings would hide it.
 *
 * That is the limit of it all. A processor goes on while the clock is read, so up to some 10 ns of
 * work between two readings take no time of their own: the loop's probes cost what two readings do,
 * and those of a function of 10 ns next to nothing, which no clock can tell. What the trampolines
 * time in place now and then shows no more: two readings, in loops and programs alike.
 */
#include "agent/clones/calibrate.h"

#include "agent/calls/call-extremes.h"
#include "agent/calls/stacks.h"
#include "agent/calls/threads.h"
#include "agent/calls/tree.h"
#include "agent/core/agent.h"
#include "agent/core/bytes.h"
#include "agent/core/system-calls.h"

enum { ROUNDS = 12, CALLS = 2048, ABOVE = 64 };

/* Lines of a stage's arena: nodes or cells, and of these the records of their callees. */
enum { ROOT = 1, CALLEE = 2, ROOT_RECORD = 3, CALLEE_RECORD = 5, LINES = 7 };

/* Numbers that children are told, and what ends them: who executes a program while they are written
 * gives an unfinished list. */
enum { COSTS = DWELL_PROBE_KINDS + 1, COSTS_END = '.' };

/* What loops call. */
struct dw_calibrate_trampolines {
	uint64_t enter, leave; /* whose events count */
	uint64_t out, back;    /* which let pass ... */
	uint64_t probed;       /* ... calls of this address */
};

typedef void loop(const struct dw_calibrate_trampolines *trampolines, uint32_t n);
loop dw_calibrate_function, dw_calibrate_external, dw_calibrate_line, dw_calibrate_pass,
	dw_calibrate_nothing;
extern const char dw_calibrate_function_site[] __attribute__((visibility("hidden")));
extern const char dw_calibrate_external_site[] __attribute__((visibility("hidden")));

/* A thread with a caller and a callee. */
struct stage {
	struct dw_tree_thread thread;
	struct dw_tree_node nodes[LINES]; /* by line: its arena begins here */
	struct dw_shadow shadow[4];
	struct dw_tree_quick quick[2];
	struct dw_bounds bounds;
} __attribute__((aligned(DWELL_LINE_BYTES)));

/* Probes that come in pairs, or alone: then both are the same. */
struct pair {
	loop *loop;
	const char *site;
	uint64_t key;				     /* beside that of function 0 */
	uint32_t enter_trampoline, leave_trampoline; /* enum dw_trampoline */
	uint32_t enter, leave;			     /* enum dw_probe_kind */
	bool has_cells;
};

/* The record that stands from @line on. */
static struct dw_tree_callee *record_at(struct stage *s, uint32_t line)
{
	return (struct dw_tree_callee *)&s->nodes[line];
}

/* Let nodes be cells. */
static void make_cells(struct stage *s)
{
	struct dw_tree_callee *root = record_at(s, ROOT_RECORD);

	s->thread.has_cells = 1;
	s->thread.draw_at = 1ull << 62;
	((struct dw_tree_cell *)&s->nodes[ROOT])->callee = ROOT_RECORD;
	((struct dw_tree_cell *)&s->nodes[CALLEE])->callee = CALLEE_RECORD;
	root->tags[0] = dw_tree_tag(&s->nodes[CALLEE]);
	root->children[0] = CALLEE;
	memcpy(root->bounds, &dw_bounds_all, sizeof(root->bounds));
	memcpy(record_at(s, CALLEE_RECORD)->bounds, &dw_bounds_all, sizeof(root->bounds));
}

static void set(struct stage *s, const struct dw_area *area, const struct pair *p)
{
	const uint64_t *constants = (const uint64_t *)(area->area + area->header->constants_at);
	struct dw_tree_node *callee = &s->nodes[CALLEE];

	memset(s, 0, sizeof(*s));
	s->thread.top = s->shadow;
	s->thread.current = &s->nodes[ROOT];
	s->thread.os_word = &s->thread.os_seen;
	s->thread.limit = s->shadow + 3;
	s->thread.window = DWELL_STACK_WINDOW;
	s->thread.arena = (uint64_t)s->nodes;
	s->thread.quick = s->quick;
	s->thread.bounds = &s->bounds;
	s->bounds = dw_bounds_all;
	s->shadow[0] = (struct dw_shadow){.node = &s->nodes[ROOT],
					  .record = (uint64_t)(s + 1) + ABOVE,
					  .function = &s->nodes[ROOT]};
	callee->key = constants[DWELL_CONSTANT_FIRST_ID] | p->key;
	callee->site = (uint32_t)(uint64_t)p->site;
	if (p->has_cells) {
		make_cells(s);
		return;
	}
	s->nodes[ROOT].tags[0] = dw_tree_tag(callee);
	s->nodes[ROOT].children[0] = CALLEE;
}

/* In place of the agent's slow path: nothing but what that does about time. What a trampoline has
 * pushed ends here, too, when it looks closely at its reading. */
static uint64_t slow(uint64_t trampoline, uint64_t rsp, uint64_t what, uint64_t area)
{
	uint64_t now = dw_ticks_in_order();
	struct stage *s = (struct stage *)dw_thread_word;
	struct dw_shadow *top = s->thread.top;

	(void)what;
	(void)area;
	if (top > s->shadow && top->record <= rsp)
		s->thread.top = top - 1;
	if (s->thread.has_cells)
		record_at(s, CALLEE_RECORD)->outermost = 0;
	s->thread.current->elapsed += now - s->thread.last;
	s->thread.current = &s->nodes[trampoline == DWELL_TRAMPOLINE_ENTER ? CALLEE : ROOT];
	s->thread.last = dw_ticks_in_order();
	return 0;
}

/* Let the slow path of @area's trampolines be @at. What it was; 0 = that cannot be changed. */
static uint64_t set_slow(const struct dw_area *area, uint64_t at)
{
	uint64_t *constants = (uint64_t *)(area->area + area->header->constants_at), was;

	if (dw_sys_mprotect(constants, DWELL_PAGE_BYTES, PROT_READ | PROT_WRITE))
		return 0;
	was = constants[DWELL_CONSTANT_SLOW];
	constants[DWELL_CONSTANT_SLOW] = at;
	dw_sys_mprotect(constants, DWELL_PAGE_BYTES, PROT_READ);
	return was;
}

/* What a round has measured, ticks. */
struct round {
	uint64_t caller, callee;
};

static struct round run(struct stage *s, const struct dw_area *area, const struct pair *p)
{
	const struct dw_clone_header *h = area->header;
	struct dw_tree_thread *t = &s->thread;
	struct dw_calibrate_trampolines trampolines = {
		.enter = area->area + h->trampoline_at[p->enter_trampoline],
		.leave = area->area + h->trampoline_at[p->leave_trampoline],
	};

	s->nodes[ROOT].elapsed = s->nodes[CALLEE].elapsed = 0;
	t->last = dw_ticks();
	dw_thread_word = t;
	p->loop(&trampolines, CALLS);
	dw_thread_word = &dw_thread_none;
	s->nodes[ROOT].elapsed += dw_ticks() - t->last;
	return (struct round){s->nodes[ROOT].elapsed, s->nodes[CALLEE].elapsed};
}

/* A loop, and its quickest round. */
struct course {
	struct stage stage;
	const struct pair *pair;
	struct round best;
};

static void begin(struct course *c, const struct dw_area *area, const struct pair *p)
{
	set(&c->stage, area, p);
	c->pair = p;
	c->best = (struct round){0, 0};
}

static void run_course(struct course *c, const struct dw_area *area)
{
	struct round r = run(&c->stage, area, c->pair), *best = &c->best;

	if (!best->caller || r.caller + r.callee < best->caller + best->callee)
		*best = r;
}

/* The least of @least and a round of @chosen, whose trampolines have no events; on @s. Ticks. */
static uint64_t run_plain(uint64_t least, loop *chosen, struct stage *s, const struct dw_area *area)
{
	const struct dw_clone_header *h = area->header;
	struct dw_calibrate_trampolines trampolines = {
		.out = area->area + h->trampoline_at[DWELL_TRAMPOLINE_OUT_POINTER],
		.back = area->area + h->trampoline_at[DWELL_TRAMPOLINE_RETURN],
		.probed = area->module + h->probed_start,
	};
	uint64_t start, ticks;

	dw_thread_word = &s->thread;
	start = dw_ticks();
	chosen(&trampolines, CALLS);
	ticks = dw_ticks() - start;
	dw_thread_word = &dw_thread_none;
	return ticks < least ? ticks : least;
}

/* @ticks of a round, for one call, in parts of a tick. */
static int32_t mean(uint64_t ticks)
{
	return (int32_t)(ticks * DWELL_TICK_PARTS / CALLS);
}

/* Tell of the trampolines of @c; @own is what the loop itself takes. */
static void tell(const struct course *c, int32_t own)
{
	struct dw_region_header *told = dw_agent_region();

	told->probe_cost[c->pair->enter] = mean(c->best.caller) - own;
	told->probe_cost[c->pair->leave] = mean(c->best.callee);
}

static const struct pair pairs[] = {
	{dw_calibrate_function, dw_calibrate_function_site, 0, DWELL_TRAMPOLINE_ENTER,
	 DWELL_TRAMPOLINE_EXIT, DWELL_PROBE_ENTER, DWELL_PROBE_LEAVE, false},
	{dw_calibrate_external, dw_calibrate_external_site, 0, DWELL_TRAMPOLINE_OUT,
	 DWELL_TRAMPOLINE_RETURN, DWELL_PROBE_OUT, DWELL_PROBE_RETURN, false},
	{dw_calibrate_line, NULL, DWELL_KEY_LINE, DWELL_TRAMPOLINE_LINE, DWELL_TRAMPOLINE_LINE,
	 DWELL_PROBE_LINE, DWELL_PROBE_LINE, false},
	{dw_calibrate_function, dw_calibrate_function_site, 0, DWELL_TRAMPOLINE_ENTER,
	 DWELL_TRAMPOLINE_EXIT, DWELL_PROBE_CELL_ENTER, DWELL_PROBE_CELL_LEAVE, true},
	{dw_calibrate_external, dw_calibrate_external_site, 0, DWELL_TRAMPOLINE_OUT,
	 DWELL_TRAMPOLINE_RETURN, DWELL_PROBE_CELL_OUT, DWELL_PROBE_CELL_RETURN, true},
};

enum { PAIRS = sizeof(pairs) / sizeof(*pairs) };

/* The loops in turns, so that what disturbs one disturbs all. */
void dw_calibrate(const struct dw_area *area)
{
	struct dw_tree_thread *word = dw_thread_word;
	struct course courses[PAIRS];
	uint64_t nothing = UINT64_MAX, pass = UINT64_MAX, was = set_slow(area, (uint64_t)slow);

	if (!was)
		return;
	for (int k = 0; k < PAIRS; k++)
		begin(&courses[k], area, &pairs[k]);
	for (int i = 0; i < ROUNDS; i++) {
		nothing = run_plain(nothing, dw_calibrate_nothing, &courses[0].stage, area);
		pass = run_plain(pass, dw_calibrate_pass, &courses[0].stage, area);
		for (int k = 0; k < PAIRS; k++)
			run_course(&courses[k], area);
	}
	/* A statement has no loop around it that is nobody's. */
	for (int k = 0; k < PAIRS; k++)
		tell(&courses[k], pairs[k].site ? mean(nothing) : 0);
	dw_agent_region()->pass_cost = pass > nothing ? mean(pass - nothing) : 0;
	set_slow(area, was);
	dw_thread_word = word;
	dw_agent_region()->measured_ns = dw_sys_now_ns();
}

/* The costs in the order in which children are told them. */
static int32_t *cost_at(struct dw_region_header *told, uint32_t i)
{
	return i < DWELL_PROBE_KINDS ? &told->probe_cost[i] : &told->pass_cost;
}

bool dw_calibrate_from(const char *mode)
{
	const char *text = dw_text_option(mode, "costs");
	int32_t costs[COSTS];

	for (uint32_t i = 0; i < COSTS && text; i++) {
		costs[i] = (int32_t)(uint32_t)dw_text_number(text);
		text = dw_text_find(text, ',');
		text = *text ? text + 1 : NULL;
	}
	if (!text || *text != COSTS_END)
		return false;
	for (uint32_t i = 0; i < COSTS; i++)
		*cost_at(dw_agent_region(), i) = costs[i];
	return true;
}

void dw_calibrate_tell_children(void)
{
	char word[COSTS * 12 + 16] = " costs=";

	for (uint32_t i = 0; i < COSTS; i++) {
		uint32_t cost = (uint32_t)*cost_at(dw_agent_region(), i);

		dw_text_append_number(word, sizeof(word), cost, 10);
		dw_text_append(word, sizeof(word), ",");
	}
	dw_text_append(word, sizeof(word), (const char[]){COSTS_END, '\0'});
	dw_agent_tell_children(word);
}
