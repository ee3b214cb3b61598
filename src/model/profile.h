/*
 * A profile: all tables of one recording together. Each table has a header of its own with its
 * rules.
 *
 * While a recording runs, samples and extras hold only what has not been handed to the session yet;
 * after loading they hold all (or what the load asked for). Owned by one thread at a time.
 */
#pragma once

#include "base/strings.h"
#include "base/vec.h"
#include "model/allocations.h"
#include "model/calls.h"
#include "model/facts.h"
#include "model/sample.h"
#include "model/symbol.h"

#include <stdbool.h>
#include <stdint.h>

#define DWELL_TIME_NONE UINT64_MAX

/*
 * Processes and threads have dense ids that stay unique when the system reuses its numbers. Times
 * are nanoseconds since the start of the recording (the command's start, or the attach),
 * DWELL_TIME_NONE = not known, of an end: still alive when the recording ended.
 */
struct dw_process {
	int32_t pid;	       /* in the collector's namespace */
	uint32_t parent;       /* process id of the parent in this recording, 0 = none */
	uint32_t name;	       /* string: the last name, after the last exec */
	uint32_t command;      /* string: program and first file of the command line, after the last
				* exec: "cc1plus format.cc"; 0 = not known */
	uint32_t command_line; /* string: all of it, quoted as for a shell; 0 = not known */
	uint64_t begin_ns;     /* since start */
	uint64_t end_ns;       /* or DWELL_TIME_NONE */
	uint64_t user_cpu_ns;  /* from the kernel's accounting, DWELL_TIME_NONE = not known */
	uint64_t kernel_cpu_ns; /* likewise */
	bool dirty;		/* changed since it was last written to the session */
};

struct dw_thread {
	uint32_t process; /* process id */
	int32_t tid;
	uint32_t name;	/* string: what the thread calls itself (comm) */
	uint32_t start; /* function id of its start routine, from its outermost user frame; 0 = not
			   known */
	uint64_t begin_ns;
	uint64_t end_ns;
	bool dirty;
};

struct dw_processes {
	DW_VEC(struct dw_process) rows;
};

struct dw_threads {
	DW_VEC(struct dw_thread) rows;
};

/* Append a copy of @row and give its id (1 and up). 0 or -ENOMEM. */
int dw_processes_add(struct dw_processes *t, const struct dw_process *row, uint32_t *ret);

/* The process of @id, borrowed until the next add. NULL for 0 and unknown ids. */
static inline struct dw_process *dw_processes_get(const struct dw_processes *t, uint32_t id)
{
	return id && id < t->rows.n ? &t->rows.v[id] : NULL;
}

/* Number of processes. Ids run from 1 to this. */
static inline uint32_t dw_processes_count(const struct dw_processes *t)
{
	return t->rows.n ? (uint32_t)t->rows.n - 1 : 0;
}

/* Append a copy of @row and give its id (1 and up). 0 or -ENOMEM. */
int dw_threads_add(struct dw_threads *t, const struct dw_thread *row, uint32_t *ret);

/* The thread of @id, borrowed until the next add. NULL for 0 and unknown ids. */
static inline struct dw_thread *dw_threads_get(const struct dw_threads *t, uint32_t id)
{
	return id && id < t->rows.n ? &t->rows.v[id] : NULL;
}

/* Number of threads. Ids run from 1 to this. */
static inline uint32_t dw_threads_count(const struct dw_threads *t)
{
	return t->rows.n ? (uint32_t)t->rows.n - 1 : 0;
}

/* A process has executed something: what it is called since, as in struct dw_process. The last row
 * of a process counts. */
struct dw_exec {
	uint32_t process;
	uint32_t command, command_line;
};

struct dw_execs {
	DW_VEC(struct dw_exec) rows;
};

struct dw_profile {
	struct dw_strings strings;
	struct dw_facts facts;
	struct dw_modules modules;
	struct dw_processes processes;
	struct dw_threads threads;
	struct dw_execs execs;
	struct dw_frames frames;
	struct dw_stacks stacks;
	struct dw_samples samples;
	struct dw_extras extras;
	struct dw_calls calls;
	struct dw_allocations allocations;
	struct dw_functions functions;
	struct dw_locations locations;
	struct dw_codes codes;
	struct dw_sources sources;
};

#define DW_PROFILE_INIT \
	{               \
		0       \
	}

/* @process goes by @command, which is short, and @line from now on, "" = nobody knows. 0 or
 * -ENOMEM. */
int dw_process_set_command(struct dw_profile *p, uint32_t process, const char *command,
			   const char *line);

/* What @process is called among others of its kind, a string: what it has executed, or its name. */
uint32_t dw_process_command(const struct dw_profile *p, uint32_t process);

/* What a recording consists of. */
enum dw_method { DWELL_METHOD_SAMPLING, DWELL_METHOD_INSTRUMENTATION, DWELL_METHOD_MEMORY };

/* How @p was recorded, however little of it there is. */
enum dw_method dw_profile_method(const struct dw_profile *p);

/* Whether @p comes from instrumentation. */
static inline bool dw_profile_has_calls(const struct dw_profile *p)
{
	return dw_profile_method(p) == DWELL_METHOD_INSTRUMENTATION;
}

/* Free all tables and leave an empty profile. */
void dw_profile_release(struct dw_profile *p);
