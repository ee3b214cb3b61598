/*
 * Memory of the agent's own, straight from the kernel. [async-signal-safe] [any-thread]
 *
 * All of it lies in one range of addresses that is reserved before the program's first instruction:
 * what was mapped wherever there is room would land in holes that the program has just made, and
 * which it fills again with MAP_FIXED.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Reserve the range, once; again is nothing. Where it cannot be had there is no memory. In a
 * process with one thread. */
void dw_memory_start(void);

/* Reserve @bytes of addresses apart from the range, in whole pages and without rights. NULL: they
 * cannot be had. For what is started with the agent only. */
void *dw_memory_reserve(uint64_t bytes);

/* The first thread's stack lies at @address. */
void dw_memory_know_stack(uint64_t address);

/* Whether @bytes from @at on lie where that stack may grow to, by its limit or, with @is_raised, by
 * what programs raise that to. */
bool dw_memory_is_stack(uint64_t at, uint64_t bytes, bool is_raised);

/* What of @bytes of addresses may be reserved under the limit of address space there is, in units
 * of 256 KB. */
uint64_t dw_memory_share(uint64_t bytes);

/* Give back the addresses of the range that are not in use, but for @keep bytes. The range never
 * grows again. */
void dw_memory_give_back(uint64_t keep);

/* The end of the range: of all that it has the nearest to the libraries of the start, below which
 * the kernel has put it. */
uint64_t dw_memory_top(void);

/* Cut @bytes off the end of the range for good: its addresses, to be mapped over with MAP_FIXED.
 * NULL: there is no room. */
void *dw_memory_take_top(uint64_t bytes);

/* The same for @bytes at @at. What lies behind them is given back. NULL: that is in use, or not of
 * the range. */
void *dw_memory_take_at(uint64_t at, uint64_t bytes);

/* Forks' children may lack what is mapped at @at, which begins a piece that is in use: so others
 * may have mapped something there. */
void dw_memory_apart(const void *at);

/*
 * Let the children of later forks have nothing of what is in use now, and take what is wanted from
 * now on from the rest of the range, which they have. What is given back of the former stays. Where
 * somebody else may have mapped something between, children have it all. For a process that is
 * measured no more; inside dw_agent_enter().
 */
void dw_memory_retire(void);

/* Let no more than @bytes be in use beside what is now. */
void dw_memory_limit(uint64_t bytes);

/* @bytes of zeroed private memory. NULL: there is none, or no system calls may be made. */
void *dw_agent_memory(size_t bytes);

/* The same, shared with the children of later forks: the kernel copies no page tables of it for
 * them (mm/memory.c, vma_needs_copy). For what nobody writes any more. */
void *dw_agent_memory_shared(size_t bytes);

/* Give back @at, which has @bytes, of either kind. NULL is nothing. */
void dw_agent_memory_free(void *at, size_t bytes);

/* @old, @old_bytes long, made @bytes long, what is new zeroed; it moves. NULL: it stays as it
 * is. */
void *dw_agent_memory_more(void *old, size_t old_bytes, size_t bytes);

/* Addresses for @bytes, to be mapped over with MAP_FIXED; what is there is undefined. NULL: none.
 */
void *dw_agent_addresses(size_t bytes);

/* Give back @at, which has addresses for @bytes, whatever is mapped there. NULL is nothing. */
void dw_agent_addresses_free(void *at, size_t bytes);

/* Take the addresses of @bytes at @at back after their pages have moved away. False: somebody else
 * has mapped something there, and they are lost. */
bool dw_agent_addresses_take_back(void *at, size_t bytes);
