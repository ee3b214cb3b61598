/*
 * The sampling agent's own part: what happens at the start of a program, around forks, and at the
 * end. A fork's child gets a timer at once, but its region with its first sample only: most
 * children execute another program before that.
 *
 * Programs that ask to be traced are sampled no more: their tracer would see each of the sampler's
 * signals before they do, which a plain run does not have. What a traced process executes has no
 * agent at all (agent/core/exec-program.c); who is attached to later is not protected. The child of
 * a vfork() has no timer and runs on its parent's memory: there is nothing to stop. Source:
 * ptrace(2).
 *
 * Of modules the agent is listed last, though it was loaded first: the address sanitizer insists on
 * being the first library, and refuses to run otherwise. What may be about to go is told of first.
 */
#include "agent/sample/sampling.h"

#include "agent/core/agent.h"
#include "agent/core/bytes.h"
#include "agent/core/system-calls.h"
#include "agent/sample/interpreter.h"

#include <dlfcn.h>
#include <link.h>
#include <stdarg.h>
#include <sys/ptrace.h>
#include <sys/types.h>

struct dw_sampling dw_sampling;

/* Of the C library: what pthread_atfork() calls. */
typedef int register_atfork(void (*prepare)(void), void (*parent)(void), void (*child)(void),
			    void *module);

bool dw_sampling_is_on(void)
{
	return __atomic_load_n(&dw_sampling.is_on, __ATOMIC_ACQUIRE);
}

void dw_sampling_stop(uint32_t off)
{
	if (!__atomic_exchange_n(&dw_sampling.is_on, false, __ATOMIC_ACQ_REL))
		return;
	dw_sampling.ring->off = off;
	dw_timers_stop();
	if (off != DWELL_SAMPLE_OFF_FILTER) /* which may not come about */
		dw_signals_end();
}

/* In a fork's child, where the C library calls it first of all. */
static void on_fork(void)
{
	if (!dw_sampling_is_on() || !dw_agent_may_call())
		return;
	dw_timers_forget();
	dw_sampling.is_moving = false;
	if (!dw_timer_arm((uint32_t)dw_syscall(SYS_gettid)))
		__atomic_store_n(&dw_sampling.is_on, false, __ATOMIC_RELEASE);
}

static uint64_t option(const char *mode, const char *name, uint64_t otherwise)
{
	const char *value = dw_text_option(mode, name);

	return value ? dw_text_number(value) : otherwise;
}

/* Make the ring that @mode asks for. */
static bool start_ring(const char *mode)
{
	uint64_t bytes = option(mode, "ring", 1 << 20), at;

	if (bytes < DWELL_SAMPLE_PAGE || bytes > DWELL_SAMPLE_RING_MAX || bytes & (bytes - 1))
		return false;
	if (!dw_agent_enter())
		return false;
	dw_sampling.ring =
		dw_agent_chunk(DWELL_REGION_CHUNK_SAMPLES, 0, DWELL_SAMPLE_PAGE + bytes, &at);
	dw_agent_leave();
	if (!dw_sampling.ring)
		return false;
	dw_sampling.data = (uint8_t *)dw_sampling.ring + DWELL_SAMPLE_PAGE;
	dw_sampling.ring_bytes = bytes;
	dw_sampling.ring->bytes = bytes;
	return true;
}

/* Where the stack of the main thread begins, as the loader keeps it; 0 = not known. */
static uint64_t main_top(void)
{
	const uint64_t *top = dw_loader_first("__libc_stack_end");

	return top ? *top : 0;
}

static void start(const char *mode)
{
	register_atfork *at_fork = (register_atfork *)dw_real("__register_atfork");

	if (!dw_text_after(mode, "sample") || !start_ring(mode) || !dw_timers_start()) {
		dw_agent_off(DWELL_OFF_NO_MEMORY);
		return;
	}
	dw_sampling.interval_ns = option(mode, "interval", 1000000);
	dw_sampling.stack_bytes = (uint32_t)option(mode, "stack", 32 << 10);
	if (dw_sampling.stack_bytes > DWELL_SAMPLE_STACK_MAX)
		dw_sampling.stack_bytes = DWELL_SAMPLE_STACK_MAX;
	dw_sampling.main_top = main_top();
	dw_maps_tell();
	dw_interpreter_start();
	if (!at_fork || at_fork(NULL, NULL, on_fork, NULL) || !dw_tick_start()) {
		dw_sampling.ring->off = DWELL_SAMPLE_OFF_TIMER;
		return;
	}
	__atomic_store_n(&dw_sampling.is_on, true, __ATOMIC_RELEASE);
	dw_thread_sampled();
}

/* The ring of a fork's child, empty, where its parent's was. */
static void forked(void)
{
	dw_sampling.ring->bytes = dw_sampling.ring_bytes;
	dw_sampling.told = 0;
	dw_interpreter_forked();
	dw_thread_tell();
}

static void confined(bool is_so)
{
	if (is_so) {
		dw_sampling_stop(DWELL_SAMPLE_OFF_FILTER);
	} else if (dw_sampling.ring && dw_sampling.ring->off == DWELL_SAMPLE_OFF_FILTER) {
		dw_sampling.ring->off = DWELL_SAMPLE_ON;
		__atomic_store_n(&dw_sampling.is_on, true, __ATOMIC_RELEASE);
		dw_timers_resume();
	}
}

static void stop_sampling(void)
{
	if (!dw_sampling_is_on())
		return;
	dw_agent_after_fork();
	if (dw_agent_is_on() && dw_agent_is_self())
		dw_sampling_stop(DWELL_SAMPLE_OFF_TRACED);
}

DWELL_STAND_IN long ptrace(enum __ptrace_request request, ...)
{
	va_list more;
	void *address, *data;
	pid_t pid;

	va_start(more, request);
	pid = va_arg(more, pid_t);
	address = va_arg(more, void *);
	data = va_arg(more, void *);
	va_end(more);
	if (request == PTRACE_TRACEME)
		stop_sampling();
	return DW_REAL(ptrace)(request, pid, address, data);
}

extern const char __ehdr_start[] __attribute__((visibility("hidden"))); /* by the linker */

/* One caller's walk over modules. */
struct listing {
	int (*callback)(struct dl_phdr_info *info, size_t size, void *data);
	void *data;
	struct dl_phdr_info own;
	size_t own_size; /* 0 = not come by yet */
};

static int list(struct dl_phdr_info *info, size_t size, void *ctx)
{
	struct listing *l = ctx;

	if (info->dlpi_addr != (uintptr_t)__ehdr_start || size > sizeof(l->own))
		return l->callback(info, size, l->data);
	l->own = *info;
	l->own_size = size;
	return 0;
}

DWELL_STAND_IN int dl_iterate_phdr(int (*callback)(struct dl_phdr_info *, size_t, void *),
				   void *data)
{
	__typeof__(&dl_iterate_phdr) real = DW_REAL(dl_iterate_phdr);
	struct listing l = {.callback = callback, .data = data};
	int result = real ? real(list, &l) : 0;

	return result || !l.own_size ? result : callback(&l.own, l.own_size, data);
}

DWELL_STAND_IN int dlclose(void *handle)
{
	__typeof__(&dlclose) real = DW_REAL(dlclose);

	dw_maps_tell_of_samples();
	return real ? real(handle) : -1;
}

/* The runtime's agent, preloaded before this one, asks here whether it belongs into the process. */
const char *dwell_second(void);

DWELL_STAND_IN const char *dwell_second(void)
{
	return dw_agent_second();
}

const struct dw_agent_part dw_agent_part = {.start = start,
					    .forked = forked,
					    .end = dw_maps_tell_of_samples,
					    .confined = confined,
					    .executes = dw_signals_execute};
