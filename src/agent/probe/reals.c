/*
 * Finding the real functions once each, by name; see reals.h. What several threads find at the
 * same time is the same.
 */
#include "agent/probe/reals.h"

#include "agent/core/agent.h"
#include "agent/core/slow.h"
#include "agent/probe/state.h"

#include <dlfcn.h>

#define DW_REAL_NAME(name) #name,
static const char *const names[] = {DWELL_REALS(DW_REAL_NAME)};

void *dw_real_of(enum dw_real id)
{
	void *real = __atomic_load_n(&dw_probe.reals[id], __ATOMIC_RELAXED);

	if (!real) {
		real = dw_real(names[id]);
		__atomic_store_n(&dw_probe.reals[id], real, __ATOMIC_RELAXED);
	}
	return real;
}

bool dw_real_find_object(uint64_t pc, struct dl_find_object *ret)
{
	__typeof__(&_dl_find_object) find = DW_REAL(_dl_find_object);
	bool is_own = dw_slow_begin_own((uint64_t)__builtin_frame_address(0));
	bool is_found = find && !find((void *)pc, ret);

	dw_slow_end_own(is_own);
	return is_found;
}
