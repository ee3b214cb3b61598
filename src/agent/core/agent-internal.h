/*
 * What the files of the core share: the agent's whole state, and their ways into each other. The
 * fields are written while the program has one thread, or inside dw_agent_enter().
 */
#pragma once

#include "agent/core/agent.h"
#include "agent/core/bytes.h"

enum {
	DWELL_AGENT_TEXT = 1024, /* bytes of a variable; longer ones leave the agent off */
	DWELL_AGENT_VARIABLES = 6,
};

/* One page that a fork's child finds zeroed. */
struct dw_agent_wiped {
	uint64_t is_same_process; /* 0 in a fork's child until it has a region */
	uint32_t lock;		  /* of dw_agent_enter(); a holder is not forked along */
};

/* Where a chunk of the region is mapped. */
struct dw_agent_chunk {
	void *mapped;
	struct dw_region_chunk chunk;
};

/* The part of the region's file that can be mapped without the file. */
struct dw_agent_window {
	void *at;
	uint64_t from;	/* offset in the file */
	uint64_t bytes; /* 0 = there is none */
};

enum { DWELL_HEADER_WORDS = 2, DWELL_PAGE = 4096 };

struct dw_agent {
	struct dw_region_header *region; /* constant once the agent has started */
	struct dw_agent_wiped *wiped;
	const struct dw_region_alive *alive; /* NULL = it could not be mapped */
	bool is_active; /* this process was started by dwell: its children get the agent */
	bool is_on;
	bool is_retired;  /* collector.c; atomic */
	bool is_started;  /* main may run: there may be handlers and other threads */
	bool is_second;	  /* another agent is here, which serves the children of both */
	uint32_t filters; /* that the program has installed, or is about to; atomic */
	uint32_t pid;
	uint32_t module_n; /* as in the region, which others can write */
	uint32_t chunk_n;
	uint64_t bytes;				   /* of the region's file */
	uint64_t header_pages[DWELL_HEADER_WORDS]; /* bits: pages that have memory; atomic */
	struct dw_agent_window window;
	uint32_t refusals;	/* of chunks, one after the other; atomic */
	uint64_t device, inode; /* of the region's file */
	uint64_t mask;		/* signal mask to restore by dw_agent_leave() */
	const char *own_path;	/* of the agent's file, borrowed from the loader */
	uint64_t own_device, own_inode;
	void *real_prctl, *real_syscall, *real_errno;
	void *real_setrlimit, *real_prlimit, *real_mlockall;
	void *real_execve, *real_execveat; /* of the first agent, where this is the second */
	char folder[DWELL_REGION_PATH];
	char path[DWELL_REGION_PATH + 32]; /* of the region's file */
	/* The variables as children get them, "NAME=value"; the preload is last. Those of a second
	 * agent are empty without one. */
	char variables[DWELL_AGENT_VARIABLES][DWELL_AGENT_TEXT];
	struct dw_agent_chunk chunks[DWELL_REGION_CHUNKS];
};

extern struct dw_agent dw_agent;

/* @bytes up to the end of their last page. */
static inline uint64_t dw_whole_pages(uint64_t bytes)
{
	return (bytes + DWELL_PAGE - 1) & ~(uint64_t)(DWELL_PAGE - 1);
}

/* Give back the addresses that are reserved for the region to grow. */
void dw_region_window_close(void);

/* Whether nobody will read a region any more: the collector has ended or been killed. */
bool dw_region_is_abandoned(void);

/* Whether this task runs under no more than @filters system-call filters: those that dwell itself
 * ran under allow all that an agent does. */
bool dw_filters_fit(uint64_t filters);

/* Make the region of a program that starts. False, and the agent off, when it cannot be. */
bool dw_region_start(void);

/*
 * Take our variables out of @envp and the bytes of /proc/self/environ, and keep them; @path is this
 * agent's in LD_PRELOAD. False when dwell has not started this process or a variable is too long.
 * *@ret_filters is the number of system-call filters that dwell itself ran under.
 */
bool dw_environment_take(char **envp, const char *path, uint64_t *ret_filters);

/* Whether LD_PRELOAD of @envp names @path. */
bool dw_environment_preloads(char *const *envp, const char *path);

/* Take our variables out of @envp, if dwell has started this process and the agent may work here:
 * children get it, too, from now on. */
bool dw_agent_wake(char **envp);

/* DWELL_ENV_MODE's value, borrowed for ever. */
const char *dw_environment_mode(void);

/* "MODE:FOLDER" for the second agent, borrowed for ever. NULL = there is none. */
const char *dw_environment_second(void);

/* Take the folder and DWELL_ENV_MODE's value from @start, what dw_environment_second() of the first
 * agent gave. False: they are too long. */
bool dw_environment_be_second(const char *start);

/* Be the second agent, active if this process belongs to dwell as @start says, where another agent
 * has found out that agents may work. */
void dw_agent_wake_second(const char *start);

/* The name and "=" of variable @i. */
const char *dw_environment_name(int i);

struct link_map;

/* The address of the module's own definition of @name, NULL = none. */
void *dw_loader_find(const struct link_map *map, const char *name);

/* Set the C library's errno of this thread. */
void dw_errno_set(int error);

/* The path by which the loader has loaded this agent, borrowed for ever. NULL = it and the C
 * library are not a glibc's. */
const char *dw_loader_own_path(void);
