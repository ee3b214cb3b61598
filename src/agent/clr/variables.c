/*
 * The variables by which the runtime finds its profiler; see variables.h.
 *
 * The program may have threads that read the environment: the longer one is a new array, as
 * setenv() makes one, and the old one stays. Taking out moves entries in place, as unsetenv() does.
 */
#include "agent/clr/variables.h"

#include "agent/clr/runtime.h"
#include "agent/core/agent.h"
#include "agent/core/bytes.h"
#include "agent/core/deferred-start.h"
#include "agent/core/memory.h"

#include <stddef.h>
#include <stdint.h>

enum { SHOWN = 3, TEXT_BYTES = 1024, NAME_UNITS = 64 };

struct variables {
	uint32_t is_shown;   /* atomic */
	char ***environment; /* the program's `environ`, NULL = not looked up yet */
	char texts[SHOWN][TEXT_BYTES];
};

static struct variables variables;

static const char *const names[SHOWN] = {
	DWELL_ENV_CLR_ENABLE "=",
	DWELL_ENV_CLR_CLASS "=",
	DWELL_ENV_CLR_PATH "=",
};

static char ***environment(void)
{
	char ***at = __atomic_load_n(&variables.environment, __ATOMIC_RELAXED);

	if (!at) {
		at = dw_loader_first("environ");
		__atomic_store_n(&variables.environment, at, __ATOMIC_RELAXED);
	}
	return at;
}

static bool is_named(const char *entry)
{
	for (int i = 0; i < SHOWN; i++)
		if (dw_text_after(entry, names[i]))
			return true;
	return false;
}

/* Whether a profiler is chosen in @entries. */
static bool is_taken(char *const *entries)
{
	for (; entries && *entries; entries++)
		if (dw_text_after(*entries, names[0]) || dw_text_after(*entries, names[1]))
			return true;
	return false;
}

static bool make_texts(void)
{
	const char *const values[SHOWN] = {"1", DWELL_CLR_CLASS, dw_deferred_own_path()};

	for (int i = 0; i < SHOWN; i++) {
		char *text = variables.texts[i];

		text[0] = 0;
		if (!values[i] || !dw_text_append(text, TEXT_BYTES, names[i]) ||
		    !dw_text_append(text, TEXT_BYTES, values[i]))
			return false;
	}
	return true;
}

static void show(void)
{
	char ***at = environment(), **all;
	size_t n = 0;

	if (!at || !dw_agent_may_call() || !dw_are_readable_texts(*at) || is_taken(*at) ||
	    !make_texts())
		return;
	while (*at && (*at)[n])
		n++;
	all = dw_agent_memory((n + SHOWN + 1) * sizeof(*all));
	if (!all)
		return;
	for (size_t i = 0; i < n; i++)
		all[i] = (*at)[i];
	for (size_t i = 0; i < SHOWN; i++)
		all[n + i] = variables.texts[i];
	__atomic_store_n(at, all, __ATOMIC_RELEASE);
}

void dw_variables_asked(const char *name)
{
	char ***at = environment();
	bool is_runtimes;

	if (!at || !*at)
		return; /* the C library does not read the name then */
	is_runtimes = dw_text_after(name, "DOTNET_") || dw_text_after(name, "COREHOST_") ||
		      dw_text_after(name, "CORECLR_");
	if (is_runtimes && !__atomic_exchange_n(&variables.is_shown, 1, __ATOMIC_RELAXED))
		show();
}

bool dw_variables_are(const char *entry)
{
	for (int i = 0; i < SHOWN; i++)
		if (variables.texts[i][0] && dw_text_equal(entry, variables.texts[i]))
			return true;
	return false;
}

/* Take the variable @name, which ends in "=", from the runtime's copy. */
static void unset(const char *name)
{
	uint16_t wide[NAME_UNITS];
	size_t n = 0;

	while (name[n] != '=' && n < NAME_UNITS - 1) {
		wide[n] = (unsigned char)name[n];
		n++;
	}
	wide[n] = 0;
	dw_runtime_unset(wide);
}

void dw_variables_hide(void)
{
	char ***at = environment(), **to = at ? *at : NULL;

	for (int i = 0; i < SHOWN; i++)
		unset(names[i]);
	for (char **from = to; from && *from; from++)
		if (!is_named(*from))
			*to++ = *from;
	if (to)
		*to = NULL;
}

char **dw_variables_now(void)
{
	char ***at = environment();

	return at ? *at : NULL;
}
