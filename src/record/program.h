/*
 * The program that a command line starts, and whether an agent can be brought into it.
 *
 * Looks where execvp() looks and follows "#!" lines. A look before the start: the file may be
 * another when it is executed, which is the agent's matter then.
 */
#pragma once

#include <stdbool.h>

enum dw_program_kind {
	DWELL_PROGRAM_FITS,
	DWELL_PROGRAM_STATIC,  /* no loader that could preload anything */
	DWELL_PROGRAM_LIBC,    /* another C library than glibc */
	DWELL_PROGRAM_MACHINE, /* 32-bit, or for another processor */
	DWELL_PROGRAM_SECURE, /* setuid, setgid or with capabilities: its loader ignores preloads */
	DWELL_PROGRAM_UNKNOWN, /* no ELF file, or none that we may read */
	DWELL_PROGRAM_MISSING, /* there is nothing to execute */
};

struct dw_program {
	enum dw_program_kind kind;
	char *path; /* of the ELF file that runs, without links; owned; NULL = none */
	int fd;	    /* of it, -1 = none */
};

/* Find what @name starts. Release in any case. */
void dw_program_find(const char *name, struct dw_program *ret);

/* Why a program of @kind runs without agent, as the end of a sentence. Static. */
const char *dw_program_reason(enum dw_program_kind kind);

/* Close and free. */
void dw_program_release(struct dw_program *p);

/* Whether a command line starts a .NET program, as far as can be seen before it runs. */

/*
 * Whether @argv names dotnet in any of its words ("sh -c 'dotnet ...'" too), or a .NET program by
 * its file or by the text of a script. False for builds that start one: that is not seen.
 */
bool dw_is_dotnet_command(char *const *argv);

/* The language ("Python") of the interpreter that @name starts, one whose frames the sampling agent
 * can read as far as its file's name says. Scripts are followed, by way of env(1), too. NULL = it
 * starts none. Static. */
const char *dw_interpreter_command(const char *name);

/* Whether the program behind @fd has a .NET runtime in itself, which compiles methods while they
 * run. */
bool dw_has_dotnet_runtime(int fd);
