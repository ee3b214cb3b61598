/*
 * Errors: one result code and one owned message. Warnings and traces.
 *
 * Every function that can fail returns 0 or a negative code: a system error as -errno, one of
 * dwell's own from -4096 down, so both fit one int. Functions whose failure deserves words take a
 * struct dw_error last (NULL = not wanted): it is filled only on failure and untouched on success.
 * Each layer may put its context before the message once. Libraries never print: src/cli prints
 * errors, once, and is handed warnings and traces.
 */
#pragma once

#include <stdarg.h>
#include <stdbool.h>

enum dw_err {
	DWELL_ERR_FORMAT = -4096,    /* bytes from outside break the rules of their format */
	DWELL_ERR_NOT_FOUND = -4097, /* absent, which is normal: callers decide whether to report */
	DWELL_ERR_UNSUPPORTED =
		-4098,		   /* well-formed, but of a kind or version dwell does not know */
	DWELL_ERR_REFUSED = -4099, /* the kernel or another owner does not allow it */
	DWELL_ERR_LIMIT = -4100,   /* a named limit of dwell was reached */
	DWELL_ERR_USAGE = -4101,   /* the user's words make no sense */
	DWELL_ERR_INTERRUPTED = -4102, /* stopped on request before it was done */
};

struct dw_error {
	int code;      /* 0 = nothing happened */
	char *message; /* owned; NULL when nothing happened, or when there was no memory for words
			*/
	char *lines;   /* owned: what to show below the message, one '\n' before each. NULL = none
			*/
};

#define DW_ERROR_INIT \
	{             \
		0     \
	}

/*
 * Fill @err and return @code, so that a failure is one statement. An earlier message is replaced.
 * [any-thread]
 * @err   may be NULL: the code alone is returned.
 * @code  negative.
 * @fmt   one clause, no full stop, no newline; printf rules.
 */
int dw_error_set(struct dw_error *err, int code, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/* As dw_error_set() with code -@errnum; ": strerror(@errnum)" is put behind the clause.
 * [any-thread] */
int dw_error_set_errno(struct dw_error *err, int errnum, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/* Put "context: " before the message that @err holds; nothing if it holds none. Returns err->code
 * (0 for NULL). */
int dw_error_prefix(struct dw_error *err, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

/* Put a line below the message that @err holds, printf rules; a newline in it becomes a blank.
 * Without memory the line is left out. */
void dw_error_add_line(struct dw_error *err, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

/* The message, borrowed until @err changes. Never NULL (falls back to the code's own words). */
const char *dw_error_message(const struct dw_error *err);

/* What @code means in a few words. Borrowed, static. Takes -errno codes too. [any-thread] */
const char *dw_err_string(int code);

/* Free the message and set @err to "nothing happened". NULL is fine. */
void dw_error_clear(struct dw_error *err);

/* A warning says what happens next ("..., skipping"). */
enum dw_log_level { DWELL_LOG_WARN, DWELL_LOG_TRACE };

typedef void dw_log_fn(enum dw_log_level level, const char *domain, const char *message);

/* Set who receives them, perhaps in several threads, NULL = drop. Call before other threads start.
 */
void dw_log_set(dw_log_fn *fn);

/* Report something worth a user's attention that is no error. [any-thread] */
void dw_warn(const char *domain, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* Report a step, for `-v`. [any-thread] */
void dw_trace(const char *domain, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
