/*
 * The stand-in by which an agent learns that a .NET runtime is about to look for its profiler. In a
 * library of its own: in tests it would stand in for the C library's.
 */
#include "agent/clr/variables.h"
#include "agent/core/agent.h"
#include "agent/core/deferred-start.h"

char *getenv(const char *name);

typedef char *getenv_fn(const char *name);

static getenv_fn *real_getenv;

DWELL_STAND_IN char *getenv(const char *name)
{
	getenv_fn *real = __atomic_load_n(&real_getenv, __ATOMIC_RELAXED);

	if (!real) {
		real = (getenv_fn *)dw_real("getenv");
		__atomic_store_n(&real_getenv, real, __ATOMIC_RELAXED);
	}
	if (dw_deferred_is_preloaded())
		dw_variables_asked(name);
	return real ? real(name) : NULL;
}
