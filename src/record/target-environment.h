/*
 * The environment that brings an agent into a program: ours, with the agent preloaded.
 */
#pragma once

/* An agent that is preloaded beside another one. */
struct dw_second_agent {
	const char *path;
	const char *folder;
	const char *mode; /* without ':' */
};

enum { DWELL_ENVIRONMENT_MADE = 6 }; /* entries, at most */

struct dw_target_environment {
	char **v; /* NULL-terminated; NULL = not made */
	/* entries that were made, owned, NULL behind the last; the others are borrowed from our
	 * environment */
	char *made[DWELL_ENVIRONMENT_MADE];
};

/*
 * Our environment with @agent, the path of the preloaded object, behind what the user preloads, and
 * the variables of wire/region.h at its end: @folder, of the session, and @mode. An agent whose
 * path the loader could not take is linked to from the folder. 0 or a negative code. Release in any
 * case.
 */
int dw_target_environment_make(struct dw_target_environment *e, const char *agent,
			       const char *folder, const char *mode);

/* The same with @second (NULL = none) beside @agent. */
int dw_target_environment_make_both(struct dw_target_environment *e, const char *agent,
				    const char *folder, const char *mode,
				    const struct dw_second_agent *second);

/*
 * The same for the .NET runtime's @agent. Where the command @program (NULL = none) takes no
 * preloads the variables by which the runtime loads the agent itself take their place; the program
 * sees them then.
 */
int dw_clr_environment_make(struct dw_target_environment *e, const char *agent, const char *folder,
			    const char *mode, const char *program);

/* The variable of our environment that orders another .NET profiler, borrowed. NULL = none. */
const char *dw_clr_environment_conflict(void);

/* Free everything. */
void dw_target_environment_release(struct dw_target_environment *e);
