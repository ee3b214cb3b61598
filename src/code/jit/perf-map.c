/*
 * Lines of perf maps; see perf-map.h. The form is that of Linux's perf (its document
 * jit-interface.txt). The JDK writes 0x before both numbers, .NET before the first. A line that is
 * no such line is passed over: runtimes crash, and several may write into one file.
 */
#include "code/jit/perf-map.h"

#include <stdbool.h>
#include <string.h>

struct text {
	const char *at, *end;
};

static int digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	c |= 0x20;
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* Take a number and the blanks behind it. */
static bool take_hex(struct text *t, uint64_t *ret)
{
	const char *first;
	uint64_t v = 0;

	if (t->end - t->at > 2 && t->at[0] == '0' && (t->at[1] | 0x20) == 'x')
		t->at += 2;
	for (first = t->at; t->at < t->end && digit(*t->at) >= 0; t->at++) {
		if (v >> 60)
			return false;
		v = v << 4 | (uint64_t)digit(*t->at);
	}
	*ret = v;
	if (t->at == first || t->at == t->end || *t->at != ' ')
		return false;
	while (t->at < t->end && *t->at == ' ')
		t->at++;
	return true;
}

static bool take_line(struct text t, struct dw_perf_map_line *ret)
{
	struct dw_perf_map_line line;

	if (t.end > t.at && t.end[-1] == '\r')
		t.end--;
	if (!take_hex(&t, &line.start) || !take_hex(&t, &line.bytes) || t.at == t.end)
		return false;
	line.name = t.at;
	line.name_n = (size_t)(t.end - t.at);
	if (!line.bytes || line.start + line.bytes < line.start)
		return false;
	*ret = line;
	return true;
}

size_t dw_perf_map_next(const char *text, size_t n, struct dw_perf_map_line *ret)
{
	const char *at = text, *end;

	*ret = (struct dw_perf_map_line){0};
	while ((end = memchr(at, '\n', n - (size_t)(at - text)))) {
		const struct text line = {at, end};

		at = end + 1;
		if (take_line(line, ret))
			break;
	}
	return (size_t)(at - text);
}
