/*
 * The start, and the variables by which the runtime finds its profiler; see start.h.
 *
 * The program may have threads that read the environment: the longer one is a new array, as
 * setenv() makes one, and the old one stays. Taking out moves entries in place, as unsetenv() does.
 *
 * Where the loader brought the agent nothing of ours is in the program's environment from the start
 * on. Else our variables stay there, so that .NET programs that it starts have the agent, too;
 * where it shall not have them they are taken out.
 */
#include "agent/clr/start.h"

#include "agent/clr/loader.h"
#include "agent/clr/runtime.h"
#include "agent/clr/tables.h"
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

/* Take them out of the environment, also out of the runtime's own copy. The runtime starts. */
static void variables_hide(void)
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

/* The variables as they are now, NULL = there are none. */
static char **entries_now(void)
{
	char ***at = environment();

	return at ? *at : NULL;
}

#define BUDGET_DEFAULT ((uint64_t)64 << 20)

/* The value of variable @name, which ends in "="; NULL = it is not set. */
static const char *value_of(char *const *entries, const char *name)
{
	const char *value = NULL;

	for (; entries && *entries && !value; entries++)
		value = dw_text_after(*entries, name);
	return value;
}

/* Take our variables away, as unsetenv() does. */
static void hide(char **entries)
{
	char **to = entries;

	for (; *entries; entries++)
		if (!dw_text_after(*entries, DWELL_ENV_FOLDER "=") &&
		    !dw_text_after(*entries, DWELL_ENV_MODE "=") &&
		    !dw_text_after(*entries, DWELL_ENV_FILTERS "="))
			*to++ = *entries;
	*to = NULL;
}

static bool start_region(char *const *entries)
{
	const char *folder = value_of(entries, DWELL_ENV_FOLDER "=");
	const char *filters = value_of(entries, DWELL_ENV_FILTERS "=");

	return folder && dw_deferred_start(folder, filters ? dw_text_number(filters) : 0);
}

/* Make the region, and give the mode. NULL = we do not belong here. */
static const char *start(void)
{
	char **entries = entries_now();
	const char *mode;

	if (dw_deferred_is_preloaded())
		return dw_deferred_start(NULL, 0) ? dw_deferred_mode() : NULL;
	mode = value_of(entries, DWELL_ENV_MODE "=");
	return start_region(entries) ? mode ? mode : "" : NULL;
}

static void read_wishes(const char *mode, struct dw_clr_wishes *ret)
{
	const char *word = dw_text_option(mode, "stacks");

	ret->is_code = dw_text_after(mode, "code");
	ret->has_stacks = !ret->is_code && (!word || dw_text_number(word));
	word = dw_text_option(mode, "natives");
	ret->has_natives = ret->has_stacks && word && dw_text_number(word);
	word = dw_text_option(mode, "lifetime");
	ret->has_lifetime = !ret->is_code && (!word || dw_text_number(word));
	word = dw_text_option(mode, "check");
	ret->check = word ? (uint32_t)dw_text_number(word) : 0;
	word = dw_text_option(mode, "collect-at-end");
	ret->collects_at_end = ret->has_lifetime && word && dw_text_number(word);
	word = dw_text_option(mode, "oracle");
	ret->has_oracle = ret->has_lifetime && word && dw_text_number(word);
	word = dw_text_option(mode, "sample");
	ret->sample_bytes = word && !ret->is_code ? dw_text_number(word) : 0;
	ret->has_lifetime &= !ret->sample_bytes;
	ret->collects_at_end &= ret->has_lifetime;
}

/* Take away what children shall not have, or the program see. */
static void clean(const char *mode)
{
	const char *word = dw_text_option(mode, "children");
	bool has_children = !word || dw_text_number(word);

	if (!has_children)
		dw_deferred_leave_children();
	if (!has_children || dw_deferred_is_preloaded())
		variables_hide();
	if (!has_children)
		hide(entries_now());
}

bool dw_clr_start(struct dw_clr_wishes *ret)
{
	const char *mode = start(), *word;
	uint64_t budget = BUDGET_DEFAULT;

	if (!mode)
		return false;
	word = dw_text_option(mode, "memory");
	if (word)
		budget = dw_text_number(word);
	if (!dw_tables_start(budget)) {
		dw_agent_off(DWELL_OFF_NO_MEMORY);
		return false;
	}
	read_wishes(mode, ret);
	clean(mode);
	return true;
}
