/*
 * Executing programs with the agent. dw_exec_patch() runs once, while the program has one thread.
 */
#pragma once

#include <stdbool.h>

/* What stands in for the C library's execve(): the same results. [async-signal-safe] [any-thread]
 */
int dw_execve(const char *path, char *const argv[], char *const envp[]);

/* The same of execveat(). */
int dw_execveat(int folder, const char *path, char *const argv[], char *const envp[], int flags);

/* Lead the C library's own calls of execve() here. False when its code is not the known one. */
bool dw_exec_patch(void);
