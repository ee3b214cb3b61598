/*
 * The life of an agent that starts when the program runs already: what start.c is to those that the
 * loader starts. The loader may have brought it, too (preloaded): then it hides what brings it, and
 * programs that are executed get it again, whether it ever starts or not. Else the program itself
 * has loaded it, and whoever started the program has told where the region is to be.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* The loader runs constructors, and @envp is the program's. Nothing happens where the agent was not
 * preloaded. Behind another agent, which has hidden both already, it is that one's second. */
void dw_deferred_preload(char **envp);

/* Whether the agent was preloaded by dwell. [async-signal-safe] [any-thread] */
bool dw_deferred_is_preloaded(void);

/* The agent's file as the loader has found it, borrowed for ever. NULL = it is not known. */
const char *dw_deferred_own_path(void);

/* DWELL_ENV_MODE's value for a preloaded agent, borrowed for ever. */
const char *dw_deferred_mode(void);

/* Programs that are executed run without the agent from now on. */
void dw_deferred_leave_children(void);

/*
 * Make the region in the session's @folder (borrowed), if a collector lives there and the program
 * runs under no more than @filters system-call filters. Both are known already to a preloaded
 * agent: NULL. False: nothing was done.
 */
bool dw_deferred_start(const char *folder, uint64_t filters);

/* The agent measures from now on. Its start began at @begin_ns. */
void dw_deferred_started(uint64_t begin_ns);

/* The program ends. */
void dw_deferred_end(void);
