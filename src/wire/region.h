/*
 * The region: the file through which one process and the collector talk.
 *
 * The agent makes it in the session's folder (found through DWELL_ENV_FOLDER) and maps it; the
 * collector finds it by inotify, reads it with pread() and believes nothing in it. Everything is
 * written by the target, but for answers, tree_room and disabled, which the collector writes with
 * pwrite(). The file begins with struct dw_region_header; chunks follow, in the order of their
 * making, each whole pages, allocated before the first store. Fields are written before the counter
 * that publishes them (release). All offsets are from the start of the file.
 *
 * Asking for clone images: the agent fills modules[i], sets its state to DWELL_MODULE_ASKED, raises
 * module_n and creates the empty file NAME.N (N any number) beside the region to wake the
 * collector, which removes it. The collector writes answers[i] with its state last. Until the
 * state is DWELL_ANSWER_IMAGE or _NONE the agent waits, at most 2 s without a change of
 * answers[i].heartbeat, at most 30 s in all; then the module stays as it is (DWELL_MODULE_LATE).
 */
#pragma once

#include "wire/call-tree.h"
#include "wire/clone-image.h"

#include <stdint.h>

/*
 * Environment of a target, put last by `dwell`: the folder; the agent's mode as text ("time", words
 * NAME=VALUE may follow: os-source=perf|rseq|none, the only one that is tried;
 * memory=BYTES and paths=N, nodes of a thread, for call trees; counts=yes: what is measured no more
 * is counted;
 * slowest=chosen: single calls of functions with DWELL_CLONE_SLOWEST only; costs=N,N,...,. from an
 * agent to the programs that its process executes: what probes cost there, as in struct
 * dw_region_header; os-proven=perf,rseq or one of these, likewise: sources that have told of a
 * switch; or "sample" with the words interval=NS, stack=BYTES and ring=BYTES of
 * wire/samples.h); the number of system-call filters under which dwell itself runs (Seccomp_filters
 * of /proc/self/status, without that line 0 or 1 by Seccomp; missing = 0): the agent stays off
 * under more. The agent's own path is the last entry of LD_PRELOAD.
 */
#define DWELL_ENV_FOLDER  "DWELL_FOLDER"
#define DWELL_ENV_MODE	  "DWELL_MODE"
#define DWELL_ENV_FILTERS "DWELL_FILTERS"
#define DWELL_ENV_PRELOAD "LD_PRELOAD"

/*
 * Where two agents are preloaded: those above are the first one's, which stands last in LD_PRELOAD
 * and gives both to children. These are the path of the second one, which stands before it, and
 * "MODE:FOLDER" for it.
 */
#define DWELL_ENV_SECOND       "DWELL_SECOND"
#define DWELL_ENV_SECOND_START "DWELL_SECOND_START"

/* How the .NET runtime is told of its agent, which is preloaded where that is possible; DWELL_MODE
 * is "memory" then, and its words are memory=BYTES, stacks=0, natives=1, lifetime=0, children=0,
 * check=N, sample=BYTES; or "code" with the word memory=BYTES. */
#define DWELL_ENV_CLR_ENABLE "CORECLR_ENABLE_PROFILING"
#define DWELL_ENV_CLR_CLASS  "CORECLR_PROFILER"
#define DWELL_ENV_CLR_PATH   "CORECLR_PROFILER_PATH_64"
#define DWELL_CLR_CLASS	     "{D3E11C1A-6A5F-4C7B-9E0D-5B1F0C8A7E42}"
#define DWELL_CLR_CLASS_GUID                                           \
	{                                                              \
		0xd3e11c1a, 0x6a5f, 0x4c7b,                            \
		{                                                      \
			0x9e, 0x0d, 0x5b, 0x1f, 0x0c, 0x8a, 0x7e, 0x42 \
		}                                                      \
	}

#define DWELL_REGION_MAGIC "dwregion"

/* A file in the folder on which the collector holds flock(LOCK_EX) while it lives. */
#define DWELL_REGION_LOCK ".lock"

/*
 * A file there, of one page, that all may read and every agent maps. @owner is a robust futex of
 * the collector's main task (set_robust_list(2)): however that ends, the kernel sets
 * FUTEX_OWNER_DIED in it.
 */
#define DWELL_REGION_ALIVE ".alive"

struct dw_region_alive {
	uint32_t owner;		  /* the task's id */
	uint32_t is_over;	  /* 1 = the recording has ended */
	uint32_t files_are_alike; /* 1 = no security module decides by labels of files */
};

enum {
	DWELL_REGION_VERSION = 11,
	DWELL_REGION_MODULES = 256, /* of one process; more are counted and stay as they are */
	DWELL_REGION_CHUNKS = 512,
	DWELL_REGION_THREADS = 8192, /* that ever ran; later ones share the last one's line */
	DWELL_REGION_DISABLED = 16384,
	DWELL_REGION_COUNTED = 2 * DWELL_REGION_DISABLED, /* numbers of counters */
	DWELL_TICK_PARTS = 256,				  /* of costs */
	DWELL_REGION_PATH = 256, /* bytes of a path, its NUL included; longer ones stay empty */
};

/* What has become of a process. */
enum dw_region_state {
	DWELL_REGION_STARTING,
	DWELL_REGION_RUNNING,
	DWELL_REGION_ENDED, /* exit handlers ran; without it the process was killed or replaced */
	DWELL_REGION_OFF,   /* the agent switched itself off: off_reason */
};

enum dw_region_off {
	DWELL_OFF_NOT,
	DWELL_OFF_NO_MEMORY,
	DWELL_OFF_NO_EXECUTE, /* executable memory is refused */
	DWELL_OFF_LIBC,	      /* not a C library that it knows */
	DWELL_OFF_MISMATCH,   /* agent and collector are of different builds */
};

/* Things that went wrong in the target and were only counted. */
enum dw_region_drop {
	DWELL_DROP_MODULES,	 /* modules beyond the table */
	DWELL_DROP_CHILDREN,	 /* children that could not take the agent: any cause */
	DWELL_DROP_CHILD_CLASS,	 /* of these: another ELF class or machine */
	DWELL_DROP_CHILD_SETUID, /* of these: setuid, setgid or capabilities */
	DWELL_DROP_CHILD_STATIC, /* of these: static, or another C library */
	DWELL_DROP_HANDLERS,	 /* signal handlers beyond the table: they see clone addresses */
	DWELL_DROP_WRITTEN,	 /* functions put back because their text was made writable */
	DWELL_DROP_COUNTS,	 /* calls that were not counted */
	DWELL_DROP_THREADS,	 /* threads that run unmeasured: any cause */
	DWELL_DROP_EVENTS,	 /* probes passed while a signal had interrupted a slow path */
	DWELL_DROP_SYSTEM_CALLS, /* places of system calls without room for a probe */
	DWELL_DROP_BLIND,	/* probes passed after the process had forbidden itself all calls */
	DWELL_DROP_CHILD_APART, /* of _CHILDREN: without a region, as DWELL_MODULE_APART */
	DWELL_DROP_CHILD_FILTERED, /* of _CHILDREN: under a system-call filter of the program's own
				    */
	DWELL_DROP_THREADS_FILTERED, /* of _THREADS: they began under a system-call filter */
	DWELL_DROP_COUNTED, /* threads without memory for counters of what is measured no more */
	DWELL_DROP_N = 16
};

enum dw_region_module_state {
	DWELL_MODULE_EMPTY,
	DWELL_MODULE_ASKED,
	DWELL_MODULE_CLONED,	/* runs from its clones */
	DWELL_MODULE_NONE,	/* the collector has no image for it */
	DWELL_MODULE_LATE,	/* no answer in time */
	DWELL_MODULE_DIFFERS,	/* its bytes are not those the image was made from */
	DWELL_MODULE_NO_SPACE,	/* no room within 2 GB */
	DWELL_MODULE_REFUSED,	/* the kernel refused a mapping or protection: error */
	DWELL_MODULE_SCATTERED, /* its code lies in several segments, or can be written */
	DWELL_MODULE_APART,	/* the collector cannot be asked: another root, rights or limits */
	DWELL_MODULE_CLOSED,	/* was cloned, then dlclosed */
};

struct dw_region_module {
	uint32_t state; /* enum dw_region_module_state */
	uint32_t error; /* errno of DWELL_MODULE_REFUSED */
	uint64_t start; /* avma of its lowest segment's page */
	uint64_t bytes;
	uint64_t area;	       /* avma of its clone image, 0 = none */
	uint64_t headers_hash; /* as in dw_module_identity: of its program headers as loaded */
	uint64_t loaded_ns;    /* CLOCK_MONOTONIC */
	uint64_t counts;       /* offset of uint64 calls[] in the region, 0 = none */
	uint32_t counts_n;
	uint32_t is_main;	      /* the executable */
	uint32_t first_id;	      /* key of its function 0 in call trees, 0 = none */
	uint32_t ids_n;		      /* functions, imports and statements */
	char path[DWELL_REGION_PATH]; /* as the loader names it, /proc/self/exe's for the executable
				       */
};

enum dw_region_answer_state {
	DWELL_ANSWER_EMPTY,
	DWELL_ANSWER_WORKING,
	DWELL_ANSWER_IMAGE,
	DWELL_ANSWER_NONE,
};

struct dw_region_answer {
	/* this module's part of predisabled in struct dw_region_header */
	uint32_t predisabled_at, predisabled_n;
	uint32_t state; /* enum dw_region_answer_state */
	uint32_t heartbeat;
	char image[DWELL_REGION_PATH]; /* path of the clone image */
};

/* In keys of struct dw_region_disabled, with a function's: its calls through pointers. */
#define DWELL_DISABLE_POINTERS 0x80000000u

/*
 * What is to be measured no more, as it costs more than it measures: written by the collector, in a
 * fork's child first by the agent. It is done at some probe soon; activations that are open then
 * have ended for the trees. In two steps, so that no activation loses its end only: first calls of
 * @keys begin without probes, later they end without, too.
 */
struct dw_region_disabled {
	uint32_t serial; /* another one with each change, written last */
	uint32_t n;	 /* in @keys */
	uint32_t ended;	 /* the first of them, for which the second step is due */
	uint32_t unused;
	uint32_t keys[DWELL_REGION_DISABLED]; /* of functions and imports */
};

/*
 * A key by number, of what counts its calls while it is measured no more (dw_counter()). 0 = what
 * is counted there is counted elsewhere: an import that leads to a function with probes. With
 * DWELL_COUNTED_OPEN that is not known yet, since the loader has not looked it up.
 */
#define DWELL_COUNTED_OPEN 0x80000000u

/* A piece of the file. */
enum dw_region_chunk_kind {
	DWELL_REGION_CHUNK_COUNTS = 1,
	DWELL_REGION_CHUNK_ARENA,   /* lines of wire/call-tree.h, behind those of the arena's chunks
				     * before
				     */
	DWELL_REGION_CHUNK_COUNTED, /* uint32_t keys[DWELL_REGION_COUNTED]: what has the number of
				the place, see DWELL_COUNTED_OPEN */
	DWELL_REGION_CHUNK_SAMPLES = 8, /* wire/samples.h */
	DWELL_REGION_CHUNK_CLR = 16,	/* wire/allocations.h: struct dw_clr_head, then tables */
	DWELL_REGION_CHUNK_KINDS = 32
};

/* One moment on two clocks. */
struct dw_region_moment {
	uint64_t ticks; /* TSC */
	uint64_t ns;	/* CLOCK_MONOTONIC */
};

struct dw_region_chunk {
	uint32_t kind;
	uint32_t module; /* index, for counts */
	uint64_t at;
	uint64_t bytes;
};

struct dw_region_header {
	char magic[8];
	uint32_t version;
	uint32_t header_bytes; /* sizeof(struct dw_region_header) */
	uint8_t maker[20];     /* build-id of the agent's file */
	uint32_t state;	       /* enum dw_region_state */
	uint32_t off_reason;
	uint32_t pid; /* as the target sees it */
	uint32_t parent_pid;
	uint32_t is_fork;	 /* made by the child of a fork, not at the start of a program */
	uint64_t start_ns;	 /* CLOCK_MONOTONIC */
	uint64_t agent_start_ns; /* what the agent's own start took */
	uint64_t bytes;		 /* of the file that are in use */
	uint64_t drops[DWELL_DROP_N];
	struct dw_region_moment start; /* when the agent started to measure */
	struct dw_region_moment end;   /* when exit handlers ran, 0 = not yet */
	uint64_t end_cpu_ns;	       /* the process's CPU clock then, 0 = not read */
	uint64_t arena_base;	       /* address of the arena's line 0 in the target */
	uint32_t arena_lines;	       /* in use, as far as published */
	uint32_t threads_n;	       /* struct dw_tree_thread, whose lines stand in threads[] */
	/* What probes take of a call's time, by enum dw_probe_kind, in parts of a tick: _ENTER and
	 * _OUT of the caller's, the others of the callee's. */
	int32_t probe_cost[DWELL_PROBE_KINDS];
	int32_t pass_cost; /* what the trampolines OUT and RETURN take of the caller's when they let
			      a call pass, because its callee has probes */
	uint64_t measured_ns; /* when loops around trampolines had told these costs,
				 CLOCK_MONOTONIC. 0 = they are an earlier process's */
	uint32_t os_sources[DWELL_OS_SOURCES]; /* threads by enum dw_os_source */
	uint32_t system_calls_seen;	       /* 1 = the C library's system calls have probes */
	uint32_t disabled_done;		       /* disabled.serial of what was done last */
	uint32_t disabled_error;	       /* errno that kept some from being done, 0 = none */
	uint32_t module_n;
	uint32_t chunk_n;
	struct dw_region_chunk chunks[DWELL_REGION_CHUNKS];
	struct dw_region_module modules[DWELL_REGION_MODULES];
	struct dw_region_answer answers[DWELL_REGION_MODULES];
	uint64_t tree_room; /* bytes of nodes that call trees may have, beside those for threads
			       beyond the first: the collector's word, 0 = all that there are */
	struct dw_region_disabled disabled;
	/* What is not measured from the start, since an earlier run has disabled it: as keys of
	 * @disabled, but by index in the module's image. Written before the answer. */
	uint32_t predisabled[DWELL_REGION_DISABLED];
	uint32_t threads[DWELL_REGION_THREADS];
};
