/* Shadow stacks with invented events: which stack and activation each belongs to. */
#include "agent/calls/stacks.h"
#include "agent/core/agent.h"
#include "agent/core/memory.h"
#include "check.h"

#include <unistd.h>

enum { NODES = 64, FRAME = 64, MANY = 1000000 };

static void nothing(void)
{
}

const struct dw_agent_part dw_agent_part = {.forked = nothing, .end = nothing};

/* A thread with nodes to push. */
struct fixture {
	struct dw_tree_thread t;
	struct dw_stacks s;
	struct dw_tree_node nodes[NODES];
};

static void begin(bool *check_failed, struct fixture *f, uint64_t record)
{
	*f = (struct fixture){.t.tid = getpid()};
	for (uint64_t i = 0; i < NODES; i++)
		f->nodes[i].key = i + 1;
	CHECK(dw_stacks_start(&f->s, &f->t, &f->nodes[0], record));
}

static const struct dw_shadow *top(const struct fixture *f)
{
	return f->t.top;
}

/* The entries above the bottom of the current stack. */
static long depth(const struct fixture *f)
{
	return top(f) - f->s.current->entries;
}

static void enter(bool *check_failed, struct fixture *f, int node, uint64_t record, bool switches)
{
	CHECK_INT(dw_stacks_fit(&f->s, DWELL_AT_ENTER, record), DWELL_FIT_EVENT);
	CHECK(dw_stacks_push(&f->s, &f->nodes[node], record, switches));
}

static void call_out(bool *check_failed, struct fixture *f, int node, uint64_t record,
		     bool switches)
{
	CHECK_INT(dw_stacks_fit(&f->s, DWELL_AT_OUT, record - 4), DWELL_FIT_EVENT);
	CHECK(dw_stacks_push(&f->s, &f->nodes[node], record - 4, switches));
}

static void leave(bool *check_failed, struct fixture *f, int node, uint64_t record)
{
	CHECK_INT(dw_stacks_fit(&f->s, DWELL_AT_EXIT, record), DWELL_FIT_EVENT);
	CHECK(f->t.current == &f->nodes[node]);
	dw_stacks_pop(&f->s);
}

static void back(bool *check_failed, struct fixture *f, int node, uint64_t record)
{
	CHECK_INT(dw_stacks_fit(&f->s, DWELL_AT_RETURN, record - 4), DWELL_FIT_EVENT);
	CHECK(f->t.current == &f->nodes[node]);
	dw_stacks_pop(&f->s);
}

TEST(calls_nest)
{
	struct fixture f;

	begin(check_failed, &f, 0x7000);
	enter(check_failed, &f, 1, 0x7000, false);
	enter(check_failed, &f, 2, 0x6f00, false);
	call_out(check_failed, &f, 3, 0x6e80, false);
	CHECK_INT(depth(&f), 3);
	back(check_failed, &f, 3, 0x6e80);
	leave(check_failed, &f, 2, 0x6f00);
	leave(check_failed, &f, 1, 0x7000);
	CHECK(f.t.current == &f.nodes[0]);
	/* A caller of the first function that is seen later. */
	enter(check_failed, &f, 4, 0x7f00, false);
	CHECK_INT(depth(&f), 1);
	CHECK_INT(f.s.n, 1);
	dw_stacks_end(&f.s);
}

TEST(longjmp_ends_activations)
{
	struct fixture f;

	begin(check_failed, &f, 0x7000);
	enter(check_failed, &f, 1, 0x7000, false);
	for (int i = 0; i < 3; i++)
		enter(check_failed, &f, 2 + i, 0x6f00 - 0x100 * i, false);
	call_out(check_failed, &f, 9, 0x6c00, true); /* longjmp() */
	CHECK_INT(top(&f)->record, DWELL_RECORD_GUARD);
	/* setjmp() comes back in the first function: nothing was pushed for that. */
	CHECK_INT(dw_stacks_fit(&f.s, DWELL_AT_RETURN, 0x6fc0 - 4), DWELL_FIT_NONE);
	CHECK_INT(depth(&f), 1);
	CHECK(f.t.current == &f.nodes[1]);
	leave(check_failed, &f, 1, 0x7000);
	dw_stacks_end(&f.s);
}

TEST(landing_pads_keep_their_function)
{
	struct fixture f;

	begin(check_failed, &f, 0x7000);
	enter(check_failed, &f, 1, 0x7000, false);
	enter(check_failed, &f, 2, 0x6f00, false);
	enter(check_failed, &f, 3, 0x6e00, false);
	call_out(check_failed, &f, 4, 0x6dc0, false); /* the throw */
	CHECK_INT(dw_stacks_fit(&f.s, DWELL_AT_LANDING, 0x6ec0), DWELL_FIT_NONE);
	CHECK(f.t.current == &f.nodes[2]);
	leave(check_failed, &f, 2, 0x6f00);
	dw_stacks_end(&f.s);
}

/* Two coroutines and the thread's own stack call swapcontext(), an import, in turn. */
TEST(coroutines_have_stacks_of_their_own)
{
	static const uint64_t at[] = {0x7fff00007000, 0x500000, 0x510000}; /* near each other */
	struct fixture f;

	begin(check_failed, &f, at[0]);
	enter(check_failed, &f, 1, at[0], false);
	for (int i = 1; i < 3; i++) {
		call_out(check_failed, &f, 10 + i, at[0] - 0x40, true);
		enter(check_failed, &f, 1 + i, at[i], false);
		CHECK_INT(depth(&f), 1);
		CHECK_INT(f.s.n, 1 + i);
		call_out(check_failed, &f, 20 + i, at[i] - 0x40, true);
		back(check_failed, &f, 10 + i, at[0] - 0x40);
	}
	for (int i = 0; i < 100; i++) {
		call_out(check_failed, &f, 13, at[0] - 0x40, true);
		back(check_failed, &f, 21, at[1] - 0x40);
		enter(check_failed, &f, 30, at[1] - 0x60, false);
		leave(check_failed, &f, 30, at[1] - 0x60);
		call_out(check_failed, &f, 21, at[1] - 0x40, true);
		back(check_failed, &f, 22, at[2] - 0x40);
		call_out(check_failed, &f, 22, at[2] - 0x40, true);
		back(check_failed, &f, 13, at[0] - 0x40);
		CHECK_INT(depth(&f), 1);
	}
	CHECK_INT(f.s.n, 3);
	leave(check_failed, &f, 1, at[0]);
	dw_stacks_end(&f.s);
}

/* A function of the program switches: what comes next is its end, on the other stack. */
TEST(coroutines_in_frames_have_stacks_of_their_own)
{
	struct fixture f;

	begin(check_failed, &f, 0x27000);
	enter(check_failed, &f, 1, 0x27000, false);   /* 64 KB of its frame are a stack */
	enter(check_failed, &f, 2, 0x16f00, false);   /* resumes */
	call_out(check_failed, &f, 3, 0x16e00, true); /* swapcontext() */
	enter(check_failed, &f, 4, 0x26f00, false);   /* the coroutine */
	CHECK_INT(f.s.n, 2);
	CHECK_INT(depth(&f), 1);
	call_out(check_failed, &f, 5, 0x26e00, true);
	back(check_failed, &f, 3, 0x16e00);
	leave(check_failed, &f, 2, 0x16f00);
	CHECK(f.t.current == &f.nodes[1]);
	enter(check_failed, &f, 6, 0x16f00, false);
	call_out(check_failed, &f, 3, 0x16e00, true);
	back(check_failed, &f, 5, 0x26e00);
	CHECK(f.t.current == &f.nodes[4]);
	leave(check_failed, &f, 4, 0x26f00);
	back(check_failed, &f, 3, 0x16e00);
	leave(check_failed, &f, 6, 0x16f00);
	leave(check_failed, &f, 1, 0x27000);
	CHECK_INT(f.s.n, 2);
	dw_stacks_end(&f.s);
}

TEST(functions_that_switch)
{
	struct fixture f;

	begin(check_failed, &f, 0x7fff00007000);
	enter(check_failed, &f, 1, 0x7fff00007000, false);
	enter(check_failed, &f, 2, 0x7fff00006f00, true);
	enter(check_failed, &f, 3, 0x500000, false); /* the coroutine's start */
	enter(check_failed, &f, 2, 0x4fff00, true);
	leave(check_failed, &f, 2, 0x7fff00006f00);
	CHECK(f.t.current == &f.nodes[1]);
	enter(check_failed, &f, 2, 0x7fff00006f00, true);
	leave(check_failed, &f, 2, 0x4fff00);
	leave(check_failed, &f, 3, 0x500000);
	CHECK_INT(depth(&f), 0);
	leave(check_failed, &f, 2, 0x7fff00006f00);
	/* The same memory again. */
	enter(check_failed, &f, 2, 0x7fff00006f00, true);
	enter(check_failed, &f, 4, 0x500000, false);
	CHECK_INT(f.s.n, 2);
	CHECK_INT(depth(&f), 1);
	dw_stacks_end(&f.s);
}

TEST(short_coroutines_are_not_kept)
{
	struct fixture f;

	begin(check_failed, &f, 0x7fff00007000);
	enter(check_failed, &f, 1, 0x7fff00007000, false);
	for (uint64_t i = 0; i < 10000; i++) {
		call_out(check_failed, &f, 2, 0x7fff00006f00, true);
		enter(check_failed, &f, 3, 0x10000000 + i * 0x10000, false);
		leave(check_failed, &f, 3, 0x10000000 + i * 0x10000);
		back(check_failed, &f, 2, 0x7fff00006f00);
	}
	CHECK(f.s.n < 20);
	/* Those that are left for ever do not grow without bound either. */
	for (uint64_t i = 0; i < 2 * DWELL_STACKS; i++) {
		call_out(check_failed, &f, 2, 0x7fff00006f00, true);
		enter(check_failed, &f, 3, 0x200000000 + i * 0x10000, false);
		call_out(check_failed, &f, 4, 0x200000000 + i * 0x10000 - 0x40, true);
		back(check_failed, &f, 2, 0x7fff00006f00);
	}
	CHECK_INT(f.s.n, DWELL_STACKS);
	leave(check_failed, &f, 1, 0x7fff00007000);
	dw_stacks_end(&f.s);
}

TEST(large_frames_are_no_switches)
{
	struct fixture f;

	begin(check_failed, &f, 0x7fff00007000);
	enter(check_failed, &f, 1, 0x7fff00007000, false);
	enter(check_failed, &f, 2, 0x7fff00007000 - (8 << 20), false);
	CHECK_INT(depth(&f), 2);
	leave(check_failed, &f, 2, 0x7fff00007000 - (8 << 20));
	leave(check_failed, &f, 1, 0x7fff00007000);
	CHECK_INT(f.s.n, 1);
	dw_stacks_end(&f.s);
}

TEST(handlers_on_alternate_stacks_nest)
{
	struct fixture f;

	begin(check_failed, &f, 0x7fff00007000);
	enter(check_failed, &f, 1, 0x7fff00007000, false);
	CHECK(dw_stacks_handler_begin(&f.s, 0x602000));
	enter(check_failed, &f, 2, 0x601f00, false);
	CHECK_INT(f.s.n, 1);
	leave(check_failed, &f, 2, 0x601f00);
	dw_stacks_handler_end(&f.s, 0x602000);
	CHECK_INT(depth(&f), 1);
	/* One that leaves by longjmp(). */
	CHECK(dw_stacks_handler_begin(&f.s, 0x602000));
	enter(check_failed, &f, 2, 0x601f00, false);
	CHECK_INT(dw_stacks_fit(&f.s, DWELL_AT_RETURN, 0x7fff00006f00 - 4), DWELL_FIT_NONE);
	CHECK_INT(depth(&f), 1);
	CHECK(f.t.current == &f.nodes[1]);
	/* Two, the first without any event behind. */
	CHECK(dw_stacks_handler_begin(&f.s, 0x602000));
	enter(check_failed, &f, 2, 0x601f00, false);
	CHECK(dw_stacks_handler_begin(&f.s, 0x602000));
	enter(check_failed, &f, 3, 0x601f00, false);
	leave(check_failed, &f, 3, 0x601f00);
	dw_stacks_handler_end(&f.s, 0x602000);
	CHECK_INT(depth(&f), 1);
	leave(check_failed, &f, 1, 0x7fff00007000);
	dw_stacks_end(&f.s);
}

TEST(deep_recursion)
{
	struct fixture f;
	uint64_t start = 0x7fff00000000;

	begin(check_failed, &f, start);
	for (uint64_t i = 0; i < MANY; i++)
		enter(check_failed, &f, 1 + i % 8, start - i * FRAME, false);
	CHECK_INT(depth(&f), MANY);
	for (uint64_t i = MANY; i-- > MANY / 2;)
		leave(check_failed, &f, 1 + i % 8, start - i * FRAME);
	leave(check_failed, &f, 1, start);
	CHECK_INT(depth(&f), 0);
	dw_stacks_end(&f.s);
}

TEST(events_of_other_tasks)
{
	struct fixture f;

	begin(check_failed, &f, 0x7fff00007000);
	enter(check_failed, &f, 1, 0x7fff00007000, false);
	call_out(check_failed, &f, 2, 0x7fff00006f00, true); /* vfork() */
	f.t.tid++;					     /* as the child sees it */
	CHECK_INT(dw_stacks_fit(&f.s, DWELL_AT_RETURN, 0x7fff00006f00 - 4), DWELL_FIT_FOREIGN);
	CHECK_INT(dw_stacks_fit(&f.s, DWELL_AT_OUT, 0x7fff00006f00 - 4), DWELL_FIT_FOREIGN);
	f.t.tid--;
	back(check_failed, &f, 2, 0x7fff00006f00);
	leave(check_failed, &f, 1, 0x7fff00007000);
	dw_stacks_end(&f.s);
}
static bool is_odd(const struct dw_tree_node *node)
{
	return node->key & 1;
}

/* Nodes of even keys stay: those with odd indexes. */
TEST(activations_that_count_no_more_are_taken_out)
{
	struct fixture f;

	begin(check_failed, &f, 0x7000);
	for (int i = 0; i < 6; i++)
		enter(check_failed, &f, 1 + i, 0x7000 - 0x100 * (uint64_t)i, false);
	dw_stacks_drop(&f.s, is_odd);
	CHECK_INT(depth(&f), 3);
	CHECK(f.t.current == &f.nodes[5]);
	/* What was taken out may end with its probes still there. */
	CHECK_INT(dw_stacks_fit(&f.s, DWELL_AT_EXIT, 0x6b00), DWELL_FIT_NONE);
	leave(check_failed, &f, 5, 0x6c00);
	CHECK_INT(dw_stacks_fit(&f.s, DWELL_AT_EXIT, 0x6d00), DWELL_FIT_NONE);
	leave(check_failed, &f, 3, 0x6e00);
	leave(check_failed, &f, 1, 0x7000);
	CHECK_INT(depth(&f), 0);
	dw_stacks_end(&f.s);
}

/* What switches stacks stays, as does what a handler has interrupted; links find their bases. */
TEST(guards_and_handlers_stay_whole)
{
	struct fixture f;

	begin(check_failed, &f, 0x7000);
	enter(check_failed, &f, 2, 0x7000, false);
	enter(check_failed, &f, 1, 0x6f00, false);
	enter(check_failed, &f, 4, 0x6e00, false);
	CHECK(dw_stacks_handler_begin(&f.s, 0x400000));
	enter(check_failed, &f, 6, 0x3ff000, false);
	enter(check_failed, &f, 3, 0x3fe000, false);
	call_out(check_failed, &f, 8, 0x3fd000, true);
	dw_stacks_drop(&f.s, is_odd);
	CHECK_INT(top(&f)->record, DWELL_RECORD_GUARD);
	CHECK(f.t.current == &f.nodes[8]);
	back(check_failed, &f, 8, 0x3fd000);
	CHECK(f.t.current == &f.nodes[3]);
	leave(check_failed, &f, 3, 0x3fe000);
	CHECK(dw_stacks_handler_end(&f.s, 0x400000));
	CHECK(f.t.current == &f.nodes[4]);
	leave(check_failed, &f, 4, 0x6e00);
	leave(check_failed, &f, 1, 0x6f00);
	CHECK_INT(depth(&f), 0);
	dw_stacks_end(&f.s);
}

__attribute__((constructor)) static void reserve(void)
{
	dw_memory_start();
}

TEST_MAIN()
