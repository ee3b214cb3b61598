/*
 * The variables by which the runtime finds its profiler, in a process that the loader brought the
 * agent into: they are put into the environment when somebody asks for a variable of .NET's, which
 * the program that starts a runtime does first, and are taken out again when the agent starts.
 */
#pragma once

#include <stdbool.h>

/* Somebody asks for variable @name. Where the program has chosen a profiler itself it keeps that.
 * [any-thread] */
void dw_variables_asked(const char *name);

/* Whether @entry is one that was put there. */
bool dw_variables_are(const char *entry);

/* Take them out of the environment, also out of the runtime's own copy. The runtime starts. */
void dw_variables_hide(void);

/* The program's variables as they are now, borrowed. NULL = there are none. */
char **dw_variables_now(void);
