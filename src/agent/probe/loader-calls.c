/*
 * dlopen() and its like: the way to the real functions, and what happens to libraries they bring.
 *
 * What looks at its return address finds a `ret` of the module that calls (ret-site.h) when a clone
 * calls, and always when it opens something: control must come back here. One thread at a time
 * opens, waiting a bounded time for others; when one could not wait, or no `ret` was found, what is
 * found afterwards may be in use already and is left alone.
 */
#include "agent/probe/loader-calls.h"

#include "agent/core/agent.h"
#include "agent/core/syscall-x86-64.h"
#include "agent/probe/modules.h"
#include "agent/probe/reals.h"
#include "agent/probe/ret-site.h"
#include "agent/probe/state.h"

#include <dlfcn.h>

#define STAND_IN __attribute__((visibility("default")))

enum {
	OPEN_TRIES = 2000,
	OPEN_WAIT_NS = 1000000,
};

/* For loader-calls-x86-64.S. */
extern const uint32_t dw_loader_ids[] __attribute__((visibility("hidden")));
const uint32_t dw_loader_ids[] = {DWELL_REAL_dlsym, DWELL_REAL_dlvsym, DWELL_REAL_dlopen,
				  DWELL_REAL_dlmopen};

static __thread bool is_opening;

static void *no_function(void)
{
	return NULL;
}

static bool opens(uint32_t id)
{
	return id == DWELL_REAL_dlopen || id == DWELL_REAL_dlmopen;
}

struct dw_route dw_loader_route(uint64_t caller, uint32_t id)
{
	const struct dw_area *area = dw_area_of_clone(caller);
	struct dw_route route = {dw_real_of(id), 0};

	if (!route.real)
		route.real = (void *)no_function;
	if (!area && opens(id) && dw_probe.is_started)
		area = dw_area_of_module(caller);
	if (area)
		route.ret = dw_ret_site(area);
	else if (opens(id) && dw_probe.is_started)
		route.ret = dw_ret_site_elsewhere(caller);
	if (!route.ret && opens(id) && !is_opening)
		__atomic_store_n(&dw_probe.is_disturbed, true, __ATOMIC_RELEASE);
	return route;
}

/* Become the one that opens. A holder that was lost in a fork holds nothing in the child. */
static bool begin_opening(void)
{
	uint32_t self;

	if (is_opening || !dw_probe.is_started)
		return false;
	dw_agent_after_fork();
	if (!dw_agent_is_on() || !dw_agent_is_self())
		return false;
	self = dw_sys_getpid();
	for (int i = 0; i < OPEN_TRIES; i++) {
		uint32_t holder = __atomic_load_n(&dw_probe.opener, __ATOMIC_RELAXED);

		if (holder != self &&
		    __atomic_compare_exchange_n(&dw_probe.opener, &holder, self, false,
						__ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
			return true;
		dw_sys_sleep_ns(OPEN_WAIT_NS);
	}
	__atomic_store_n(&dw_probe.is_disturbed, true, __ATOMIC_RELEASE);
	return false;
}

void *dw_open_from(void *a, void *b, void *c, uint64_t ret, void *real)
{
	uint64_t tasks;
	void *handle;

	if (!begin_opening())
		return dw_call_from(a, b, c, ret, real);
	is_opening = true;
	__atomic_store_n(&dw_probe.is_disturbed, false, __ATOMIC_RELEASE);
	dw_modules_remember();
	tasks = dw_sys_tasks();
	handle = dw_call_from(a, b, c, ret, real);
	dw_agent_after_fork(); /* constructors may fork */
	if (dw_agent_is_self())
		dw_modules_opened(tasks && tasks == dw_sys_tasks() &&
				  !__atomic_load_n(&dw_probe.is_disturbed, __ATOMIC_ACQUIRE));
	is_opening = false;
	__atomic_store_n(&dw_probe.opener, 0, __ATOMIC_RELEASE);
	return handle;
}

STAND_IN int dlclose(void *handle)
{
	__typeof__(&dlclose) real = DW_REAL(dlclose);
	int result = real ? real(handle) : -1;

	if (result || !dw_probe.area_n)
		return result;
	dw_agent_after_fork();
	if (dw_agent_is_self())
		dw_modules_closed();
	return result;
}
