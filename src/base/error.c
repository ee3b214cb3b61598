/*
 * Errors, warnings and traces; see error.h. A message that cannot be allocated is left out: the
 * code alone still tells the kind. The receiver of warnings is the only mutable state of base, set
 * once before threads start.
 */
#include "base/error.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void set_message(struct dw_error *err, int code, char *message)
{
	free(err->message);
	free(err->lines);
	*err = (struct dw_error){code, message, NULL};
}

int dw_error_set(struct dw_error *err, int code, const char *fmt, ...)
{
	char *message = NULL;
	va_list ap;

	if (!err)
		return code;
	va_start(ap, fmt);
	if (vasprintf(&message, fmt, ap) < 0)
		message = NULL;
	va_end(ap);
	set_message(err, code, message);
	return code;
}

int dw_error_set_errno(struct dw_error *err, int errnum, const char *fmt, ...)
{
	char *clause = NULL, *message = NULL;
	va_list ap;

	if (!err)
		return -errnum;
	va_start(ap, fmt);
	if (vasprintf(&clause, fmt, ap) < 0)
		clause = NULL;
	va_end(ap);
	if (clause && asprintf(&message, "%s: %s", clause, strerrordesc_np(errnum)) < 0)
		message = NULL;
	free(clause);
	set_message(err, -errnum, message);
	return -errnum;
}

int dw_error_prefix(struct dw_error *err, const char *fmt, ...)
{
	char *context = NULL, *message = NULL;
	va_list ap;

	if (!err || !err->code)
		return err ? err->code : 0;
	va_start(ap, fmt);
	if (vasprintf(&context, fmt, ap) < 0)
		context = NULL;
	va_end(ap);
	if (context && asprintf(&message, "%s: %s", context, dw_error_message(err)) >= 0) {
		free(err->message);
		err->message = message;
	}
	free(context);
	return err->code;
}

void dw_error_add_line(struct dw_error *err, const char *fmt, ...)
{
	char *line = NULL, *lines = NULL;
	va_list ap;

	if (!err)
		return;
	va_start(ap, fmt);
	if (vasprintf(&line, fmt, ap) < 0)
		line = NULL;
	va_end(ap);
	for (char *c = line; c && (c = strchr(c, '\n'));)
		*c = ' ';
	if (line && asprintf(&lines, "%s\n%s", err->lines ? err->lines : "", line) >= 0) {
		free(err->lines);
		err->lines = lines;
	}
	free(line);
}

const char *dw_error_message(const struct dw_error *err)
{
	return err->message ? err->message : dw_err_string(err->code);
}

const char *dw_err_string(int code)
{
	switch (code) {
	case 0:
		return "no error";
	case DWELL_ERR_FORMAT:
		return "malformed data";
	case DWELL_ERR_NOT_FOUND:
		return "not found";
	case DWELL_ERR_UNSUPPORTED:
		return "not supported";
	case DWELL_ERR_REFUSED:
		return "refused";
	case DWELL_ERR_LIMIT:
		return "a limit was reached";
	case DWELL_ERR_USAGE:
		return "wrong usage";
	case DWELL_ERR_INTERRUPTED:
		return "interrupted";
	}
	const char *text = code < 0 && code > -4096 ? strerrordesc_np(-code) : NULL;
	return text ? text : "unknown error";
}

void dw_error_clear(struct dw_error *err)
{
	if (err)
		set_message(err, 0, NULL);
}

static dw_log_fn *receiver;

void dw_log_set(dw_log_fn *fn)
{
	receiver = fn;
}

__attribute__((format(printf, 3, 0))) static void
pass_on(enum dw_log_level level, const char *domain, const char *fmt, va_list ap)
{
	char line[1024];

	if (!receiver)
		return;
	vsnprintf(line, sizeof line, fmt, ap);
	receiver(level, domain, line);
}

void dw_warn(const char *domain, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	pass_on(DWELL_LOG_WARN, domain, fmt, ap);
	va_end(ap);
}

void dw_trace(const char *domain, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	pass_on(DWELL_LOG_TRACE, domain, fmt, ap);
	va_end(ap);
}
