/*
 * Environment of a target; see target-environment.h and wire/region.h. What the user preloads keeps
 * its place; all else that we add stands last, where the agent can take it away without a trace.
 */
#include "record/target-environment.h"

#include "base/cleanup.h"
#include "target/proc.h"
#include "wire/region.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

enum { FOLDER, MODE, FILTERS, PRELOAD };

/* How many system-call filters we run under, as /proc tells. */
static unsigned long count_filters(void)
{
	static const char *const keys[] = {"\nSeccomp_filters:", "\nSeccomp:"};
	dw_auto(dw_buf) status = DW_BUF_INIT;
	const char *at;

	if (dw_proc_read(getpid(), "status", &status))
		return 0;
	at = strstr(dw_buf_str(&status), keys[0]);
	if (at)
		return strtoul(at + strlen(keys[0]), NULL, 10);
	at = strstr(dw_buf_str(&status), keys[1]);
	return at && strtoul(at + strlen(keys[1]), NULL, 10) ? 1 : 0;
}

static bool is_variable(const char *entry, const char *name)
{
	size_t n = strlen(name);

	return !strncmp(entry, name, n) && entry[n] == '=';
}

static bool is_ours(const char *entry)
{
	return is_variable(entry, DWELL_ENV_FOLDER) || is_variable(entry, DWELL_ENV_MODE) ||
	       is_variable(entry, DWELL_ENV_FILTERS);
}

static bool is_for_runtime(const char *entry)
{
	return is_variable(entry, DWELL_ENV_CLR_ENABLE) ||
	       is_variable(entry, DWELL_ENV_CLR_CLASS) || is_variable(entry, DWELL_ENV_CLR_PATH);
}

int dw_target_environment_make(struct dw_target_environment *e, const char *agent,
			       const char *folder, const char *mode)
{
	const char *preload = getenv(DWELL_ENV_PRELOAD);
	size_t n = 0, to = 0;

	*e = (struct dw_target_environment){0};
	if (asprintf(&e->made[FOLDER], DWELL_ENV_FOLDER "=%s", folder) < 0 ||
	    asprintf(&e->made[MODE], DWELL_ENV_MODE "=%s", mode) < 0 ||
	    asprintf(&e->made[FILTERS], DWELL_ENV_FILTERS "=%lu", count_filters()) < 0 ||
	    asprintf(&e->made[PRELOAD], DWELL_ENV_PRELOAD "=%s%s%s", preload ? preload : "",
		     preload ? ":" : "", agent) < 0)
		return -ENOMEM;
	while (environ[n])
		n++;
	e->v = calloc(n + 5, sizeof *e->v);
	if (!e->v)
		return -ENOMEM;
	for (char **from = environ; *from; from++) {
		if (is_variable(*from, DWELL_ENV_PRELOAD))
			e->v[to++] = e->made[PRELOAD];
		else if (!is_ours(*from))
			e->v[to++] = *from;
	}
	for (int i = FOLDER; i <= FILTERS; i++)
		e->v[to++] = e->made[i];
	if (!preload)
		e->v[to] = e->made[PRELOAD];
	return 0;
}

int dw_clr_environment_make(struct dw_target_environment *e, const char *agent, const char *folder,
			    const char *mode)
{
	size_t n = 0, to = 0;

	*e = (struct dw_target_environment){0};
	if (asprintf(&e->made[0], DWELL_ENV_FOLDER "=%s", folder) < 0 ||
	    asprintf(&e->made[1], DWELL_ENV_MODE "=%s", mode) < 0 ||
	    asprintf(&e->made[2], DWELL_ENV_FILTERS "=%lu", count_filters()) < 0 ||
	    asprintf(&e->made[3], DWELL_ENV_CLR_ENABLE "=1") < 0 ||
	    asprintf(&e->made[4], DWELL_ENV_CLR_CLASS "=" DWELL_CLR_CLASS) < 0 ||
	    asprintf(&e->made[5], DWELL_ENV_CLR_PATH "=%s", agent) < 0)
		return -ENOMEM;
	while (environ[n])
		n++;
	e->v = calloc(n + sizeof e->made / sizeof *e->made + 1, sizeof *e->v);
	if (!e->v)
		return -ENOMEM;
	for (char **from = environ; *from; from++)
		if (!is_ours(*from) && !is_for_runtime(*from))
			e->v[to++] = *from;
	for (size_t i = 0; i < sizeof e->made / sizeof *e->made; i++)
		e->v[to++] = e->made[i];
	return 0;
}

const char *dw_clr_environment_conflict(void)
{
	const char *enabled = getenv(DWELL_ENV_CLR_ENABLE), *class = getenv(DWELL_ENV_CLR_CLASS);
	bool is_own = class && !strcasecmp(class, DWELL_CLR_CLASS);

	return enabled && !strcmp(enabled, "1") && class && !is_own ? DWELL_ENV_CLR_CLASS : NULL;
}

void dw_target_environment_release(struct dw_target_environment *e)
{
	for (size_t i = 0; i < sizeof e->made / sizeof *e->made; i++)
		free(e->made[i]);
	free(e->v);
	*e = (struct dw_target_environment){0};
}
