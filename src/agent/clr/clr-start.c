/*
 * The start; see start.h.
 *
 * The program has threads already. Our variables stay in its environment, so that .NET programs
 * that it starts have the agent, too; where it shall not have them they are taken out as unsetenv()
 * does, also from the runtime's own copy.
 */
#include "agent/clr/start.h"

#include "agent/clr/loader.h"
#include "agent/clr/runtime.h"
#include "agent/clr/tables.h"
#include "agent/core/agent.h"
#include "agent/core/bytes.h"
#include "agent/core/late.h"

#define BUDGET_DEFAULT ((uint64_t)64 << 20)

static const char *const ours[] = {
	DWELL_ENV_FOLDER "=",	  DWELL_ENV_MODE "=",	   DWELL_ENV_FILTERS "=",
	DWELL_ENV_CLR_ENABLE "=", DWELL_ENV_CLR_CLASS "=", DWELL_ENV_CLR_PATH "=",
};

static char **environment(void)
{
	char ***environ_at = dw_loader_first("environ");

	return environ_at ? *environ_at : NULL;
}

/* The value of variable @name, which ends in "="; NULL = it is not set. */
static const char *value_of(char *const *entries, const char *name)
{
	const char *value = NULL;

	for (; entries && *entries && !value; entries++)
		value = dw_text_after(*entries, name);
	return value;
}

static bool is_ours(const char *entry)
{
	for (size_t i = 0; i < sizeof(ours) / sizeof(*ours); i++)
		if (dw_text_after(entry, ours[i]))
			return true;
	return false;
}

/* Take the variable @name, which ends in "=", from the runtime's copy. */
static void unset(const char *name)
{
	uint16_t wide[64];
	size_t n = 0;

	while (name[n] != '=' && n < sizeof(wide) / sizeof(*wide) - 1) {
		wide[n] = (unsigned char)name[n];
		n++;
	}
	wide[n] = 0;
	dw_runtime_unset(wide);
}

static void hide(char **entries)
{
	char **to = entries;

	for (size_t i = 0; i < sizeof(ours) / sizeof(*ours); i++)
		unset(ours[i]);

	for (; *entries; entries++)
		if (!is_ours(*entries))
			*to++ = *entries;
	*to = NULL;
}

static bool start_region(char *const *entries)
{
	const char *folder = value_of(entries, DWELL_ENV_FOLDER "=");
	const char *filters = value_of(entries, DWELL_ENV_FILTERS "=");

	return folder && dw_late_start(folder, filters ? dw_text_number(filters) : 0);
}

bool dw_clr_start(struct dw_clr_wishes *ret)
{
	char **entries = environment();
	const char *mode = value_of(entries, DWELL_ENV_MODE "="), *word;
	uint64_t budget = BUDGET_DEFAULT;

	mode = mode ? mode : "";
	if (!start_region(entries))
		return false;
	word = dw_text_option(mode, "memory");
	if (word)
		budget = dw_text_number(word);
	if (!dw_tables_start(budget)) {
		dw_agent_off(DWELL_OFF_NO_MEMORY);
		return false;
	}
	ret->is_code = dw_text_after(mode, "code");
	word = dw_text_option(mode, "stacks");
	ret->has_stacks = !ret->is_code && (!word || dw_text_number(word));
	word = dw_text_option(mode, "natives");
	ret->has_natives = ret->has_stacks && word && dw_text_number(word);
	word = dw_text_option(mode, "lifetime");
	ret->has_lifetime = !ret->is_code && (!word || dw_text_number(word));
	word = dw_text_option(mode, "check");
	ret->check = word ? (uint32_t)dw_text_number(word) : 0;
	word = dw_text_option(mode, "oracle");
	ret->has_oracle = ret->has_lifetime && word && dw_text_number(word);
	word = dw_text_option(mode, "sample");
	ret->sample_bytes = word && !ret->is_code ? dw_text_number(word) : 0;
	ret->has_lifetime &= !ret->sample_bytes;
	word = dw_text_option(mode, "children");
	if (word && !dw_text_number(word))
		hide(entries);
	return true;
}
