/*
 * A last collection; see last-collection.h. The runtime refuses to collect for a thread that runs
 * one of its callbacks, so a thread is made for it, by the C library: runtime code runs on it.
 */
#include "agent/clr/last-collection.h"

#include "agent/clr/runtime.h"
#include "agent/core/agent.h"
#include "agent/core/syscall-x86-64.h"

#include <stddef.h>
#include <stdint.h>

enum { STATE_RUNS, STATE_DONE, STATE_REFUSED };

#define LOOK_NS	   1000000
#define PATIENCE_S 60

typedef int create_fn(uint64_t *ret, const void *attributes, void *(*fn)(void *), void *ctx);
typedef int detach_fn(uint64_t thread);

static void *collect(void *ctx)
{
	uint32_t *state = ctx;
	int32_t result = dw_runtime_collect();

	__atomic_store_n(state, result >= 0 ? STATE_DONE : STATE_REFUSED, __ATOMIC_RELEASE);
	return NULL;
}

bool dw_last_collection(void)
{
	static uint32_t state;
	create_fn *create = (create_fn *)dw_loader_first("pthread_create");
	detach_fn *detach = (detach_fn *)dw_loader_first("pthread_detach");
	uint64_t thread, until_ns = dw_sys_now_ns() + PATIENCE_S * 1000000000ull;

	if (!create || !detach || create(&thread, NULL, collect, &state))
		return false;
	detach(thread);
	while (__atomic_load_n(&state, __ATOMIC_ACQUIRE) == STATE_RUNS &&
	       dw_sys_now_ns() < until_ns)
		dw_sys_sleep_ns(LOOK_NS);
	return __atomic_load_n(&state, __ATOMIC_ACQUIRE) == STATE_DONE;
}
