/* Stacks of threads' own: who runs where, handlers on alternate stacks, unwinding through them. */
#include "agent/core/agent.h"
#include "agent/core/memory.h"
#include "agent/core/slow.h"
#include "check.h"

#include <execinfo.h>
#include <signal.h>

enum { ALTERNATE_BYTES = 64 << 10, FRAMES = 64 };

static void nothing(void)
{
}

const struct dw_agent_part dw_agent_part = {.forked = nothing, .end = nothing};

static uint64_t here(void)
{
	return (uint64_t)(uintptr_t)__builtin_frame_address(0);
}

/* What a piece of work has found. */
struct found {
	uint64_t at;
	bool is_own, is_blocked;
	struct found *inner; /* to be called from there, NULL = nothing */
	void *frames[FRAMES];
	int frames_n;
};

static bool is_blocked(void)
{
	sigset_t set;

	sigprocmask(SIG_SETMASK, NULL, &set);
	return sigismember(&set, SIGUSR2);
}

static void work(void *arg)
{
	struct found *f = arg;

	f->at = here();
	f->is_own = dw_own_stack_holds(f->at);
	f->is_blocked = is_blocked();
	f->frames_n = backtrace(f->frames, FRAMES);
	if (f->inner)
		dw_own_stack_call(work, f->inner);
	__asm__ volatile("" : : : "memory"); /* no jump */
}

TEST(work_is_done_on_the_threads_own_stack)
{
	struct found inner = {0}, f = {.inner = &inner};
	uint64_t stack = dw_own_stack_make();

	CHECK(stack);
	dw_own_stack_call(work, &f);
	CHECK(!f.is_own); /* none yet */
	dw_own_stack_set(stack);
	CHECK(!dw_own_stack_holds(here()));
	for (int i = 0; i < 2; i++) {
		dw_own_stack_call(work, &f);
		CHECK(f.is_own && !f.is_blocked);
		CHECK(inner.is_own && inner.at < f.at); /* below, not over it */
	}
	dw_own_stack_set(0);
	dw_own_stack_call(work, &f);
	CHECK(!f.is_own && !inner.is_own);
}

TEST(unwinders_find_their_way)
{
	void *own[FRAMES];
	struct found f = {0};
	int n = backtrace(own, FRAMES), same = 0;

	dw_own_stack_set(dw_own_stack_make());
	dw_own_stack_call(work, &f);
	dw_own_stack_set(0);
	CHECK(f.is_own);
	/* All of this test's callers, behind the frames of work and what calls it. Sanitizers have
	 * a frame of their own in front of it. */
	CHECK(f.frames_n > n);
	while (same < n - 1 && own[n - 1 - same] == f.frames[f.frames_n - 1 - same])
		same++;
	CHECK(same >= n - 2);
}

static struct found of_handler;

static void handler(int number)
{
	(void)number;
	dw_own_stack_call(work, &of_handler);
}

TEST(signals_wait_while_a_handler_stands_aside)
{
	const stack_t alternate = {.ss_sp = malloc(ALTERNATE_BYTES), .ss_size = ALTERNATE_BYTES};
	const stack_t none = {.ss_flags = SS_DISABLE};
	struct sigaction action = {.sa_handler = handler, .sa_flags = SA_ONSTACK};
	struct found f = {0};

	dw_own_stack_set(dw_own_stack_make());
	CHECK(!sigaction(SIGUSR1, &action, NULL));
	dw_own_stack_call(work, &f);
	CHECK(!sigaltstack(&alternate, NULL));
	dw_own_stack_look_again();
	raise(SIGUSR1);
	CHECK(of_handler.is_own && of_handler.is_blocked);
	CHECK(!is_blocked());
	dw_own_stack_call(work, &f);
	CHECK(f.is_own && !f.is_blocked);
	CHECK(!sigaltstack(&none, NULL));
	dw_own_stack_look_again();
	raise(SIGUSR1);
	CHECK(of_handler.is_own && !of_handler.is_blocked);
	dw_own_stack_set(0);
	free(alternate.ss_sp);
}

__attribute__((constructor)) static void reserve(void)
{
	dw_memory_start();
}

TEST_MAIN()
