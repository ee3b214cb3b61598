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

/*
 * Whether a program that is about to be executed can take the agent. Looks at the file as the
 * kernel will, before it does; makes system calls and uses little stack, nothing else: it runs in
 * children that share memory. [async-signal-safe] [any-thread]
 */

enum dw_exec_fit {
	DWELL_EXEC_FITS,
	DWELL_EXEC_FAILS,   /* there is no such file: the kernel shall say so */
	DWELL_EXEC_OTHER,   /* it cannot be read, or is of no known format */
	DWELL_EXEC_CLASS,   /* not x86-64 */
	DWELL_EXEC_SETUID,  /* it would run with other rights than its caller has */
	DWELL_EXEC_STATIC,  /* static, or of another C library */
	DWELL_EXEC_AGENT,   /* the agent's own file is not what it was, seen from here */
	DWELL_EXEC_TRACED,  /* a debugger runs it */
	DWELL_EXEC_CRAMPED, /* its address space is limited to a few megabytes */
};

/* What an exec system call executes, as execveat() names it. */
struct dw_exec_file {
	int folder;
	const char *path;
	int flags; /* AT_EMPTY_PATH, AT_SYMLINK_NOFOLLOW */
};

/* Remember the agent's own file at @path, which is borrowed for ever. False when it cannot be read:
 * no child can take it then. */
bool dw_exec_program_start(const char *path);

/* Look at @file and, when it is a script, at its interpreters. */
enum dw_exec_fit dw_exec_program_fit(const struct dw_exec_file *file);
