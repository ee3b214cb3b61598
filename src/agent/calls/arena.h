/*
 * The arena: the lines of wire/call-tree.h, one range of addresses for the whole process, made of
 * chunks of the region as they are needed.
 *
 * A thread takes lines from a block of its own, so blocks are the only thing that threads compete
 * for. Lines are zeroed and never given back. Room is made while system calls are allowed: for
 * nodes up to the budget, for drawn paths and for cells beside it. What cells leave is kept for
 * those of callees alone, for when there is no room for one for each call (tree.h). Each thread
 * beyond the first 16 brings some room of every kind.
 */
#pragma once

#include "wire/call-tree.h"

#include <stdbool.h>
#include <stdint.h>

/* Lines that a thread has taken and not used yet: [next, end). Zero-initialised. */
struct dw_lines {
	uint32_t next, end;
};

enum { DWELL_LINES_A_LINK = DWELL_LINE_BYTES / sizeof(uint32_t) }; /* in bytes */

enum dw_line_use {
	DWELL_LINE_NODE,  /* of the tree: not from what is kept */
	DWELL_LINE_PATH,  /* drawn: from room of their own */
	DWELL_LINE_FILE,  /* of files: likewise */
	DWELL_LINE_CELL,  /* of a call, and single activations */
	DWELL_LINE_OTHER, /* callees and their cells, threads, OS records: to the last line */
};

/* Reserve addresses, in a process with one thread: for @bytes of lines, as far as they can be had.
 * False: none. */
bool dw_arena_start(uint64_t bytes);

/* Give back addresses that no lines are mapped at, but for @keep bytes. Inside dw_agent_enter(). */
void dw_arena_give_back(uint64_t keep);

/*
 * Give those back, too, and let the children of later forks have no lines, nor this process, where
 * nobody else runs its code. Of a thread that has gone off, inside dw_agent_enter().
 */
void dw_arena_retire(void);

/* Let there be room for a thread more. */
void dw_arena_extend(void);

/* @n lines in a row, zeroed: the first one's index, 0 = no room. [any-thread] */
uint32_t dw_arena_take(struct dw_lines *lines, uint32_t n, enum dw_line_use use);

/* The address of line 0. */
uint64_t dw_arena_base(void);

/* A number by line that stays in the process, for trees. */
uint32_t *dw_arena_links(void);

/* Where @line stands. */
static inline void *dw_arena_line(uint64_t base, uint32_t line)
{
	return (void *)(base + (uint64_t)line * DWELL_LINE_BYTES);
}

/* The index of the line at @address. */
static inline uint32_t dw_arena_index(uint64_t base, const void *address)
{
	return (uint32_t)(((uint64_t)address - base) / DWELL_LINE_BYTES);
}

/* Inside dw_agent_enter(), in a fork's child with a region of its own: begin again, empty. All
 * lines taken before are gone. */
void dw_arena_forked(void);
