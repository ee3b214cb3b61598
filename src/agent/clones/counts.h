/*
 * Counting without a clock: calls of what is measured no more (disable.h), where the collector
 * wants that.
 *
 * Each function or import that is switched off gets a number, for good, and its probes get the
 * place of that number's counter instead of their index. Each thread has counters of its own, so
 * that counting takes no lock; trampolines come here where a thread has none yet. Callees of calls
 * through pointers have theirs in a small table of the thread's, by address.
 */
#pragma once

#include "agent/calls/threads.h"
#include "agent/clones/clones.h"

#include <stdbool.h>
#include <stdint.h>

/* Say whether what is switched off counts. Before anything is. */
void dw_counted_start(bool is_on);

/* Whether it does. [async-signal-safe] [any-thread] */
bool dw_counted_is_on(void);

/*
 * The place of the counter of function or import @index (functions.n and more) of @area, below 0,
 * of a new number if it has none. 0 = there are no more numbers; 1 = its calls are not to be
 * counted there: an import that leads to a function with probes. Inside dw_agent_enter().
 */
int32_t dw_counted_place(struct dw_area *area, uint32_t index);

/* The place that dw_counted_place() gave, 0 = none yet. [async-signal-safe] [any-thread] */
int32_t dw_counted_find(const struct dw_area *area, uint32_t index);

/* Count in @t, the calling thread, from its slow path: a call of @area whose probe tells the
 * counter's @place or, if that was switched off while it was there, the index. */
void dw_counted_call(struct dw_thread *t, const struct dw_area *area, int32_t place);

/* Likewise a jump to import @index that ends a function of @area with the trampoline TAIL, called
 * with the stack pointer @rsp: if the trampoline that would end it was switched off. */
void dw_counted_tail(struct dw_thread *t, const struct dw_area *area, uint64_t rsp, uint32_t index);

/* Likewise a call of @address through a pointer. */
void dw_counted_add_pointer(struct dw_thread *t, uint64_t address);

/* Count at @place in a handler that has interrupted a slow path of the calling thread, where no
 * memory can be had. False = it was not counted. [async-signal-safe] */
bool dw_counted_interrupted(int32_t place);

/* Look whether the loader has found by now what imports lead to, now and then. */
void dw_counted_look(uint64_t now);

/* The process ends: look once more. */
void dw_counted_end(void);

/* Tell the region of a fork's child of all numbers. Inside dw_agent_enter(). */
void dw_counted_forked(void);

/* Give back what is kept of @area, whose module is gone. */
void dw_counted_forget(struct dw_area *area);

/*
 * The way out of the count trampoline.
 */

/*
 * Count a call of function @function of the area that starts at @area, whose table of counts is not
 * there: the first call of the module in this process. Trampolines call it with all registers
 * saved. [async-signal-safe] [any-thread]
 */
void dw_count_slow(uint64_t area, uint32_t function);

/* Let the trampolines of all areas find their tables again, in a fork's child that has a region. */
void dw_count_forked(void);
