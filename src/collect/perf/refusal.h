/*
 * Why the kernel does not let us sample, and the command that changes it: one line for a person.
 */
#pragma once

#include "base/error.h"

#include <sys/types.h>

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
