/*
 * Executing programs with the agent. dw_exec_patch() runs once, while the program has one thread.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* What stands in for the C library's execve(): the same results. [async-signal-safe] [any-thread]
 */
int dw_execve(const char *path, char *const argv[], char *const envp[]);

/* The same of execveat(). */
int dw_execveat(int folder, const char *path, char *const argv[], char *const envp[], int flags);

/* Lead the C library's own calls of execve() here. False when its code is not the known one. */
bool dw_exec_patch(void);

/* Undo that in @copy, which is one of the @bytes of text at @text. [async-signal-safe] */
void dw_exec_unpatch(uint64_t text, uint64_t bytes, uint8_t *copy);
