/*
 * What the operating system did inside activations that are still open: for those only in which it
 * did anything, which are few.
 *
 * Entries of a shadow stack are named by their index in it and ask in their order: what is asked
 * for is the topmost or new above it. For the thread itself. Makes system calls where it grows.
 */
#pragma once

#include "wire/call-tree.h"

#include <stdbool.h>
#include <stdint.h>

struct dw_interval;

/* Ticks of an activation, inclusive unless said otherwise. */
struct dw_os_sums {
	uint64_t os[DWELL_OS_KINDS];
	uint64_t probe;		   /* as in struct dw_tree_os */
	uint64_t cpu, blocked;	   /* of these, as in struct dw_tree_slow */
	uint64_t ready;		   /* as in struct dw_tree_os */
	uint64_t own, own_blocked; /* exclusive: of all kinds */
	uint32_t switches, io_calls, blocking_calls;
};

/* Of one stack; zero-initialised. */
struct dw_os_inside {
	struct dw_os_open *open; /* by rising entry */
	uint32_t n, room;
};

/* Add @interval to entry @entry, on top. False: no memory. */
bool dw_os_inside_add(struct dw_os_inside *o, uint32_t entry, const struct dw_interval *interval);

/* The sums of @entry, on top, borrowed until the next call. NULL = nothing has happened in it. */
const struct dw_os_sums *dw_os_inside_of(const struct dw_os_inside *o, uint32_t entry);

/* What comes from now on is told apart: dw_os_inside_since(). */
void dw_os_inside_mark(struct dw_os_inside *o);

/* What has happened in entry @entry, on top, since then. */
struct dw_tree_os dw_os_inside_since(const struct dw_os_inside *o, uint32_t entry);

/*
 * Add to @sum what has happened since then in entries from @entry on, but for the @i-th one that
 * anything happened in and those above it, which are in it: at first UINT32_MAX. What @i is next,
 * for an entry below.
 */
uint32_t dw_os_inside_sum(const struct dw_os_inside *o, uint32_t i, uint32_t entry,
			  struct dw_tree_os *sum);

/* As dw_os_inside_of(), wherever it is. */
const struct dw_os_sums *dw_os_inside_at(const struct dw_os_inside *o, uint32_t entry);

/* Entry @entry has ended: what it has is @below's, the activation below it. Whether there was
 * anything. */
bool dw_os_inside_move(struct dw_os_inside *o, uint32_t entry, uint32_t below);

/* What entry @entry has is now that of @to, which is no higher. All below it have been renamed. */
void dw_os_inside_rename(struct dw_os_inside *o, uint32_t entry, uint32_t to);

/* Give the memory back. From any thread. */
void dw_os_inside_end(struct dw_os_inside *o);
