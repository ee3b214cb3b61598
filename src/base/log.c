/* Warnings and traces; see log.h. The receiver is the only mutable state of base, set once before
 * threads start. */
#include "base/log.h"

#include <stdarg.h>
#include <stdio.h>

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
