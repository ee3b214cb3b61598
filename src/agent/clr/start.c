/*
 * The start; see start.h.
 *
 * Where the loader brought the agent nothing of ours is in the program's environment from the start
 * on. Else our variables stay there, so that .NET programs that it starts have the agent, too;
 * where it shall not have them they are taken out.
 */
#include "agent/clr/start.h"

#include "agent/clr/tables.h"
#include "agent/clr/variables.h"
#include "agent/core/agent.h"
#include "agent/core/bytes.h"
#include "agent/core/deferred-start.h"

#include <stddef.h>
#include <stdint.h>

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
	char **entries = dw_variables_now();
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
		dw_variables_hide();
	if (!has_children)
		hide(dw_variables_now());
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
