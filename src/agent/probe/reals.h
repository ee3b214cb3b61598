/*
 * The functions that the agent stands in for, as the program would get them without it.
 *
 * Found when first needed: libraries that run their constructors early call stand-ins before the
 * agent has started, and libgcc may come with dlopen(). [async-signal-safe] [any-thread]
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#define DWELL_REALS(X)                   \
	X(_Unwind_Backtrace)             \
	X(_Unwind_FindEnclosingFunction) \
	X(_Unwind_GetIPInfo)             \
	X(_Unwind_SetIP)                 \
	X(_dl_find_object)               \
	X(backtrace)                     \
	X(backtrace_symbols)             \
	X(backtrace_symbols_fd)          \
	X(bsd_signal)                    \
	X(dl_iterate_phdr)               \
	X(dladdr)                        \
	X(dladdr1)                       \
	X(dlclose)                       \
	X(dlmopen)                       \
	X(dlopen)                        \
	X(dlsym)                         \
	X(dlvsym)                        \
	X(mmap)                          \
	X(mprotect)                      \
	X(pkey_mprotect)                 \
	X(sigaction)                     \
	X(sigaltstack)                   \
	X(signal)                        \
	X(sigset)                        \
	X(sysv_signal)

#define DW_REAL_ID(name) DWELL_REAL_##name,
enum dw_real { DWELL_REALS(DW_REAL_ID) DWELL_REALS_N };
#undef DW_REAL_ID

/* The real function, NULL when no module defines it. */
void *dw_real_of(enum dw_real id);

struct dl_find_object;

/* The real _dl_find_object() for the agent's own ends: whether a module holds @pc, which *@ret is
 * of. */
bool dw_real_find_object(uint64_t pc, struct dl_find_object *ret);

/* The real function as one of the type of its stand-in. */
#define DW_REAL(name) ((__typeof__(&name))dw_real_of(DWELL_REAL_##name))
