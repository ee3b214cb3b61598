/*
 * What every agent stands on: a process seen from inside, its region, and the rules.
 *
 * An agent is a shared object that LD_PRELOAD brings. It never ends, hangs or changes the program:
 * what fails is counted in the region and left. No malloc, no stdio, no locks of the C library, no
 * errno changed, no descriptor kept; system calls are made directly (system-calls.h). libc
 * symbols only from tests/agent-symbols (tools/check-agent compares). All state stands in one
 * hidden struct.
 *
 * Life: the loader calls the constructor (start.c) -> environment.c takes our variables out of the
 * environment -> region.c makes the region -> the agent's own part (struct dw_agent_part) starts ->
 * main. A fork's child goes on without a region until its first slow path asks for one
 * (dw_agent_after_fork()). exec.c gives the variables to programs that can take the agent.
 */
#pragma once

#include "wire/region.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What kind of agent this is, defined once by its folder (src/agent/clones/trampolines.c). */
struct dw_agent_part {
	/* The region stands; main has not run. envp is clean. @mode is DWELL_ENV_MODE's text. */
	void (*start)(const char *mode);
	/* A fork's child has a region of its own now. */
	void (*forked)(void);
	/* Normal end: exit handlers run. */
	void (*end)(void);
	/* Where the program runs the instruction at @pc: at its clone, or @pc. NULL = at @pc. */
	uint64_t (*running)(uint64_t pc);
	/* The module (index in the region) that calls of @key (wire/call-tree.h) lead to,
	 * UINT32_MAX = not known. NULL = none is. */
	uint32_t (*module_of)(uint64_t key);
	/* The program is about to forbid itself system calls, or (not @is_so) has failed to. NULL =
	 * nothing is to be done. */
	void (*confined)(bool is_so);
	/* Give back addresses that are reserved, but for those in use and @keep bytes of each kind;
	 * @is_private: only private memory is short. Inside dw_agent_enter(). NULL = the part has
	 * none of its own. */
	void (*give_back)(uint64_t keep, bool is_private);
	/* The program is about to unmap @bytes at @at by syscall(). NULL = nothing is to be
	 * done. */
	void (*unmaps)(uint64_t at, uint64_t bytes);
	/* The calling thread is about to execute a program or, not @is_so, has failed to; a child
	 * on the process's memory, too. NULL = nothing is to be done. */
	void (*executes)(bool is_so);
	/* Whether children shall not have the variable @entry. NULL = they get all. */
	bool (*hides)(const char *entry);
	/* A fork's child has lost its parent's region and gets none: it is not measured. NULL =
	 * nothing is to be done. */
	void (*stranded)(void);
	/* Whether a thread makes system calls for the agent outside dw_agent_enter(). NULL = none
	 * does. */
	bool (*is_busy)(void);
};

/* What stands in for a function of another library is shown, as nothing else is. */
#define DWELL_STAND_IN __attribute__((visibility("default")))

/*
 * Functions that run for each event lie together, apart from all others: they then take few lines
 * of the processor's cache of instructions, and where they lie does not change with other code.
 * Beside the code of .NET's runtime for each object, which nearly fills that cache, an object cost
 * 10 % more or less by chance.
 */
#define DWELL_HOT __attribute__((hot))

extern const struct dw_agent_part dw_agent_part;

/* The region's header, mapped shared and writable. Never NULL: a private page of zeros where there
 * is no region.
 */
struct dw_region_header *dw_agent_region(void);

/*
 * Whether the @bytes at @at in the region's header have memory, which is allocated if they do not:
 * asked before an entry of one of its tables is written or read for the first time. False: there is
 * none. [async-signal-safe] [any-thread]
 */
bool dw_agent_have(const void *at, size_t bytes);

/* Whether events reach a collector: there is a region, and the agent is not off. */
bool dw_agent_is_on(void);

/* Whether the recording is over or its collector dead: nothing is measured any more, for nobody
 * reads it. No system call. [async-signal-safe] [any-thread] */
bool dw_agent_is_over(void);

/* Whether the collector has found that no security module decides for each file by its label.
 * [async-signal-safe] [any-thread] */
bool dw_agent_files_are_alike(void);

/*
 * Nothing is measured any more, and nothing of what was is needed, but for what threads of this
 * process are doing: forks' children get nothing of it. For a process whose probes are gone, as a
 * child that met one would look for what it has not; inside dw_agent_enter(), once and for good.
 */
void dw_agent_retire(void);

/* Whether that is done, in this process or before it was forked. No system call.
 * [async-signal-safe] [any-thread] */
bool dw_agent_is_retired(void);

/* Add @word, which begins with a blank, to the mode that children are started with; nothing happens
 * where that becomes too long. Inside dw_agent_enter(), or at the start. */
void dw_agent_tell_children(const char *word);

/* Count a drop. [async-signal-safe] [any-thread] */
void dw_agent_drop(uint32_t kind);

/* Add @n, which may be negative, to a count of drops. [async-signal-safe] [any-thread] */
void dw_agent_drop_n(uint32_t kind, int64_t n);

/* Switch the agent off for good, with the reason for the session. */
void dw_agent_off(uint32_t reason);

/*
 * Add a chunk of @bytes (whole pages) to the region, zeroed and allocated. Its mapped
 * address, its offset in *@at; NULL when there is no room (limits, full tmpfs). Inside
 * dw_agent_enter() only.
 */
void *dw_agent_chunk(uint32_t kind, uint32_t module, size_t bytes, uint64_t *at);

/* Add a chunk of @bytes (whole pages) of @kind to the region and map it at @to, in the place of
 * what is there, without faults to come. False when there is no room. Inside dw_agent_enter(). */
bool dw_agent_chunk_at(uint32_t kind, size_t bytes, void *to);

/* Whether the region may grow: it has not been refused time and again. A chunk that is refused
 * costs system calls, so who would ask for one at each event asks this first. */
bool dw_agent_may_grow(void);

/* Let the region grow by @bytes later, in whatever chunks, wherever the program goes with its user
 * and its root. Once, while the agent starts. */
void dw_agent_window(uint64_t bytes);

/*
 * Publish modules[@first] and the following, @n in all, filled in but for their states, and wake
 * the collector: it answers all of them. Inside dw_agent_enter() only.
 */
void dw_agent_ask(uint32_t first, uint32_t n);

/*
 * Wait for the collector's answer about modules[@i]. True with the image's path in *@path (borrowed
 * from the region; check that it ends within DWELL_REGION_PATH); false after setting the
 * module's state.
 */
bool dw_agent_answer(uint32_t i, const char **path);

/*
 * Enter the agent's slow part: false when this thread is inside already (a signal handler) or
 * another thread is: after a bounded wait the caller drops its event. dw_agent_leave() after true.
 * Never entered by a vfork child: dw_agent_is_self() tells.
 */
bool dw_agent_enter(void);

/* Leave what dw_agent_enter() entered. */
void dw_agent_leave(void);

/* Whether system calls may be made at all: the program has installed no filter of them. What asks
 * dw_agent_enter() or dw_agent_is_self() knows that already. [async-signal-safe] [any-thread] */
bool dw_agent_may_call(void);

/* Wait, for some ms at most, until no slow part goes on that began when the agent might make system
 * calls: it may not any more. */
void dw_agent_settle(void);

/* Whether a region has been made for this very process: not in a fork's child before its first slow
 * path. No system call. [async-signal-safe] [any-thread] */
bool dw_agent_has_own_region(void);

/* Where it stands, 0 = no: constant once the agent has started. */
const uint64_t *dw_agent_own_region_word(void);

/* Whether this task is the process that the region belongs to, and not a child that shares its
 * memory (vfork, posix_spawn). One system call. */
bool dw_agent_is_self(void);

/* Whether nobody else runs this process's code: no other task, nor a child, which may share the
 * memory. Two system calls. */
bool dw_agent_is_alone(void);

/* Make the region of a fork's child, once. Called from slow paths when the wiped page reads 0. */
void dw_agent_after_fork(void);

/*
 * The address of the function @name that the program would get without the agent: the first
 * definition in the modules loaded after it (as dlsym(RTLD_NEXT) finds, default versions). NULL =
 * none. Takes no lock; reads the loader's tables: call from the constructor or inside
 * dw_agent_enter().
 */
void *dw_real(const char *name);

/* dw_real(@name), looked up once and kept in *@kept. [async-signal-safe] [any-thread] */
void *dw_real_once(void **kept, const char *name);

/* The function @name that the agent stands in for, typed as that. Found when first needed:
 * libraries that run their constructors early call stand-ins before the agent has started, and
 * others come with dlopen(). */
#define DW_REAL(name) DW_REAL_AS(__typeof__(&name), #name)
/* The same by its name, as a function of @type. */
#define DW_REAL_AS(type, name)                      \
	({                                          \
		static void *kept;                  \
		(type) dw_real_once(&kept, (name)); \
	})

/* As dw_real(), but the first definition in all modules, variables too: what the program itself
 * gets. NULL = none. */
void *dw_loader_first(const char *name);

/* "MODE:FOLDER" for the second agent that dwell has preloaded, borrowed for ever. NULL = there is
 * none, or agents may not work here. */
const char *dw_agent_second(void);

struct link_map;

/* The C library, NULL = none that is known. As dw_real(). */
const struct link_map *dw_loader_libc(void);

/* The offset in the ELF file @fd of the byte at @svma of a loaded segment; 0 = it has none.
 * [async-signal-safe] [any-thread] */
uint64_t dw_elf_file_offset(int fd, uint64_t svma);
