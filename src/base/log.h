/*
 * Warnings and traces from libraries that must not print: they go to one callback that src/cli
 * sets.
 *
 * Without a callback everything is dropped. The callback may be called from several threads. A
 * warning says what happens next ("..., skipping").
 */
#pragma once

enum dw_log_level { DWELL_LOG_WARN, DWELL_LOG_TRACE };

typedef void dw_log_fn(enum dw_log_level level, const char *domain, const char *message);

/* Set the receiver, NULL = drop. Call before other threads start. */
void dw_log_set(dw_log_fn *fn);

/* Report something worth a user's attention that is no error. [any-thread] */
void dw_warn(const char *domain, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* Report a step, for `-v`. [any-thread] */
void dw_trace(const char *domain, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
