/*
 * Values of very many rows: those in which the system had no part take a third of the room.
 *
 * Rows are numbered from 0. One thread while rows are added.
 */
#pragma once

#include "base/vec.h"
#include "model/call-values.h"

#include <stddef.h>
#include <stdint.h>

/* What most rows have. */
struct dw_call_plain {
	uint64_t calls;
	uint64_t elapsed_ns;
	uint64_t overhead_ns;
};

/* What few rows have; without it application and whole time are the elapsed one. */
struct dw_call_system {
	uint64_t application_ns, whole_ns, blocked_ns, os_cpu_ns;
	uint64_t switches, io_calls, blocking_calls;
};

struct dw_call_store {
	DW_VEC(struct dw_call_plain) plain; /* by row */
	DW_VEC(uint32_t) system_of;	    /* by row: index in system + 1, 0 = none */
	DW_VEC(struct dw_call_system) system;
};

/* Make @n rows, new ones with nothing in them. 0 or -ENOMEM. */
int dw_call_store_extend(struct dw_call_store *s, size_t n);

/* Add @more to @row, which is there. 0 or -ENOMEM. */
int dw_call_store_add(struct dw_call_store *s, size_t row, const struct dw_call_values *more);

/* What @row has. */
static inline struct dw_call_values dw_call_store_get(const struct dw_call_store *s, size_t row)
{
	const struct dw_call_plain *p = &s->plain.v[row];
	struct dw_call_values v = {
		.calls = p->calls,
		.elapsed_ns = p->elapsed_ns,
		.application_ns = p->elapsed_ns,
		.whole_ns = p->elapsed_ns,
		.overhead_ns = p->overhead_ns,
	};
	const struct dw_call_system *more;

	if (!s->system_of.v[row])
		return v;
	more = &s->system.v[s->system_of.v[row] - 1];
	v.application_ns = more->application_ns;
	v.whole_ns = more->whole_ns;
	v.blocked_ns = more->blocked_ns;
	v.os_cpu_ns = more->os_cpu_ns;
	v.switches = more->switches;
	v.io_calls = more->io_calls;
	v.blocking_calls = more->blocking_calls;
	return v;
}

/* @row will soon be asked for. */
static inline void dw_call_store_expect(const struct dw_call_store *s, size_t row)
{
	__builtin_prefetch(&s->plain.v[row]);
	__builtin_prefetch(&s->system_of.v[row]);
}

/* Free everything. */
void dw_call_store_release(struct dw_call_store *s);
