/*
 * Environment of a target; see target-environment.h and wire/region.h. What the user preloads keeps
 * its place; all else that we add stands last, where the agent can take it away without a trace.
 */
#include "record/target-environment.h"

#include "base/cleanup.h"
#include "collect/region/folder.h"
#include "record/program.h"
#include "target/proc.h"
#include "wire/region.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#define UNFIT " :$\n\t"

enum { PATH_BYTES_MAX = 256 };

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

/* What every agent is told, at the beginning of e->made. */
static int make_common(struct dw_target_environment *e, const char *folder, const char *mode)
{
	*e = (struct dw_target_environment){0};
	return asprintf(&e->made[0], DWELL_ENV_FOLDER "=%s", folder) < 0 ||
			       asprintf(&e->made[1], DWELL_ENV_MODE "=%s", mode) < 0 ||
			       asprintf(&e->made[2], DWELL_ENV_FILTERS "=%lu", count_filters()) < 0
		       ? -ENOMEM
		       : 0;
}

/* The entry of @e that was made for the variable of @entry. NULL = none. */
static char *find_made(const struct dw_target_environment *e, const char *entry)
{
	size_t n = strcspn(entry, "=") + 1;

	for (size_t i = 0; i < DWELL_ENVIRONMENT_MADE && e->made[i]; i++)
		if (!strncmp(e->made[i], entry, n))
			return e->made[i];
	return NULL;
}

/* Ours without what was made, then that; but @in_place (NULL = none) stands where ours did. */
static int assemble(struct dw_target_environment *e, char *in_place)
{
	bool is_placed = false;
	size_t n = 0, to = 0;

	while (environ[n])
		n++;
	e->v = calloc(n + DWELL_ENVIRONMENT_MADE + 1, sizeof *e->v);
	if (!e->v)
		return -ENOMEM;
	for (char **from = environ; *from; from++) {
		char *made = find_made(e, *from);

		if (!made || made == in_place)
			e->v[to++] = made ? made : *from;
		is_placed |= made && made == in_place;
	}
	for (size_t i = 0; i < DWELL_ENVIRONMENT_MADE && e->made[i]; i++)
		if (!is_placed || e->made[i] != in_place)
			e->v[to++] = e->made[i];
	return 0;
}

/*
 * The path by which the loader shall find @agent: its own, or where the loader would not take that
 * for one path (ld.so(8): spaces and colons part paths, $ begins a name) or it is long, that of a
 * link in the session's folder @folder. The caller frees *@ret. 0 or a negative code.
 */
static int find_preload(const char *agent, const char *folder, char **ret)
{
	const char *name = strrchr(agent, '/');

	if (!agent[strcspn(agent, UNFIT)] && strlen(agent) < PATH_BYTES_MAX) {
		*ret = strdup(agent);
		return *ret ? 0 : -ENOMEM;
	}
	if (folder[strcspn(folder, UNFIT)])
		return -ENAMETOOLONG;
	if (asprintf(ret, "%s/" DWELL_FOLDER_PUBLIC "/%s", folder, name ? name + 1 : agent) < 0) {
		*ret = NULL;
		return -ENOMEM;
	}
	return symlink(agent, *ret) && errno != EEXIST ? -errno : 0;
}

/* Put @agent, and @second if there is one, behind what the user preloads. */
static int make_preload(struct dw_target_environment *e, const char *agent, const char *second)
{
	const char *preload = getenv(DWELL_ENV_PRELOAD);

	/* The loader starts the last one first, which hides both. */
	return asprintf(&e->made[3], DWELL_ENV_PRELOAD "=%s%s%s%s%s", preload ? preload : "",
			preload ? ":" : "", second ? second : "", second ? ":" : "", agent) < 0
		       ? -ENOMEM
		       : 0;
}

int dw_target_environment_make_both(struct dw_target_environment *e, const char *agent,
				    const char *folder, const char *mode,
				    const struct dw_second_agent *second)
{
	dw_auto_free char *path = NULL, *other = NULL;
	int rc = make_common(e, folder, mode);

	if (!rc)
		rc = find_preload(agent, folder, &path);
	if (!rc && second)
		rc = find_preload(second->path, second->folder, &other);
	if (!rc)
		rc = make_preload(e, path, other);
	if (rc)
		return rc;
	if (second && (asprintf(&e->made[4], DWELL_ENV_SECOND "=%s", other) < 0 ||
		       asprintf(&e->made[5], DWELL_ENV_SECOND_START "=%s:%s", second->mode,
				second->folder) < 0))
		return -ENOMEM;
	return assemble(e, e->made[3]);
}

int dw_target_environment_make(struct dw_target_environment *e, const char *agent,
			       const char *folder, const char *mode)
{
	return dw_target_environment_make_both(e, agent, folder, mode, NULL);
}

/* Whether the loader brings an agent into the program @name. */
static bool takes_preloads(const char *name)
{
	struct dw_program program;
	bool takes;

	dw_program_find(name, &program);
	takes = program.kind == DWELL_PROGRAM_FITS;
	dw_program_release(&program);
	return takes;
}

int dw_clr_environment_make(struct dw_target_environment *e, const char *agent, const char *folder,
			    const char *mode, const char *program)
{
	if (program && takes_preloads(program))
		return dw_target_environment_make(e, agent, folder, mode);
	if (make_common(e, folder, mode) || asprintf(&e->made[3], DWELL_ENV_CLR_ENABLE "=1") < 0 ||
	    asprintf(&e->made[4], DWELL_ENV_CLR_CLASS "=" DWELL_CLR_CLASS) < 0 ||
	    asprintf(&e->made[5], DWELL_ENV_CLR_PATH "=%s", agent) < 0)
		return -ENOMEM;
	return assemble(e, NULL);
}

const char *dw_clr_environment_conflict(void)
{
	const char *enabled = getenv(DWELL_ENV_CLR_ENABLE), *class = getenv(DWELL_ENV_CLR_CLASS);
	bool is_own = class && !strcasecmp(class, DWELL_CLR_CLASS);

	return enabled && !strcmp(enabled, "1") && class && !is_own ? DWELL_ENV_CLR_CLASS : NULL;
}

void dw_target_environment_release(struct dw_target_environment *e)
{
	for (size_t i = 0; i < DWELL_ENVIRONMENT_MADE; i++)
		free(e->made[i]);
	free(e->v);
	*e = (struct dw_target_environment){0};
}
