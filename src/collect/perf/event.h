/*
 * Events that can be sampled, by the names that people know: "page-faults", "cycles",
 * "sched:sched_switch", "cpu/event=0x3c/", "r003c".
 */
#pragma once

#include "base/error.h"
#include "base/vec.h"

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* Why the kernel does not let us sample, and the command that changes it: one line for a person. */

/* Explain @code, -errno of perf_event_open(). Returns what @err then holds: DWELL_ERR_REFUSED, or
 * @code when it is nobody's refusal. */
int dw_perf_refusal(int code, struct dw_error *err);

/* Explain @code, -errno of perf_event_open() for @what, which users may have at the @level of
 * kernel.perf_event_paranoid. */
int dw_perf_scope_refusal(int code, int level, const char *what, struct dw_error *err);

/* Explain @code, -errno of opening an event of @pid, which runs already. */
int dw_perf_attach_refusal(int code, pid_t pid, struct dw_error *err);

/* Explain @code, -errno of mapping even the smallest rings. */
int dw_perf_ring_refusal(int code, struct dw_error *err);

enum { DWELL_EVENT_NAME_BYTES = 96 };

/* What a sample of an event stands for. */
enum dw_perf_event_kind {
	DWELL_EVENT_CLOCK, /* a time: the period is in nanoseconds */
	DWELL_EVENT_CYCLE, /* something that a processor counts all the time: by a frequency */
	DWELL_EVENT_COUNT, /* something that happens: every so many of it */
};

struct dw_perf_event {
	char name[DWELL_EVENT_NAME_BYTES];
	enum dw_perf_event_kind kind;
	uint32_t type; /* as perf_event_attr has them */
	uint64_t config;
	uint64_t config1;
	uint64_t config2;
	bool in_kernel; /* happens there only: nothing is seen without the right to */
};

/* The event called @name. 0; DWELL_ERR_NOT_FOUND with one line: there is none in this kernel or
 * processor. */
int dw_perf_event_find(const char *name, struct dw_perf_event *ret, struct dw_error *err);

/* What @e asks perf_event_open() for: type and config only. */
void dw_perf_event_fill(const struct dw_perf_event *e, struct perf_event_attr *attr);

/* perf_event_open(2): a descriptor, owned by the caller, or -errno. */
int dw_perf_event_open(struct perf_event_attr *attr, pid_t pid, int cpu);

/* The @i-th name that dw_perf_event_find() knows by itself, NULL behind the last one. */
const char *dw_perf_event_name(unsigned i);
