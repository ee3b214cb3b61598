/*
 * Lines and names of perf maps; see perf-map.h. The form is that of Linux's perf (its document
 * jit-interface.txt). The JDK writes 0x before both numbers, .NET before the first. A line that is
 * no such line is passed over: runtimes crash, and several may write into one file.
 *
 * One function has several pieces of code while a runtime makes it faster: V8 marks them by a
 * character (~ interpreted, ^ baseline, + and * optimised), .NET by a word in brackets. What people
 * look for is the function, so these marks go, and its pieces have one name.
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

#define ANONYMOUS "(anonymous)"

typedef struct dw_jit_text text;

static text from(text t, size_t skip)
{
	return (text){t.at + skip, t.n - skip};
}

static bool begins(text t, const char *with)
{
	size_t n = strlen(with);

	return t.n >= n && !memcmp(t.at, with, n);
}

/* Where @what begins in @t, or its end. */
static size_t position(text t, const char *what)
{
	const char *at = memmem(t.at, t.n, what, strlen(what));

	return at ? (size_t)(at - t.at) : t.n;
}

/* Take ":NUMBER" off the end of @t. */
static bool take_number(text *t, uint32_t *ret)
{
	uint64_t v = 0, unit = 1;
	size_t n = t->n;

	for (; n && t->at[n - 1] >= '0' && t->at[n - 1] <= '9' && unit <= 100000000; unit *= 10)
		v += unit * (uint64_t)(t->at[--n] - '0');
	if (!n || n == t->n || t->at[n - 1] != ':')
		return false;
	t->n = n - 1;
	*ret = (uint32_t)v;
	return true;
}

/* Where the file begins in "NAME FILE": names have blanks as well ("get size"). */
static size_t file_position(text t)
{
	static const char *const begins_with[] = {
		" /", " file:", " node:", " http", " webpack", " evalmachine."};
	size_t found = t.n;

	for (size_t i = 0; i < sizeof begins_with / sizeof *begins_with; i++) {
		size_t at = position(t, begins_with[i]);

		found = at < found ? at : found;
	}
	return found < t.n ? found : position(t, " ");
}

static struct dw_jit_name read_script(text t)
{
	struct dw_jit_name r = {.name = t};
	uint32_t last;
	size_t at;

	if (t.n && strchr("~^+*", *t.at))
		t = from(t, 1);
	r.name = t;
	if (take_number(&t, &last)) {
		if (!take_number(&t, &r.line)) /* node tells no column before its version 20 */
			r.line = last;
		at = file_position(t);
		r.name.n = at;
		r.file = from(t, at < t.n ? at + 1 : at);
		if (begins(r.file, "file://"))
			r.file = from(r.file, strlen("file://"));
	}
	return r;
}

static struct dw_jit_name read_python(text t)
{
	struct dw_jit_name r = {.name = t};
	size_t colon = position(t, ":");

	if (colon && colon < t.n) {
		r.name.n = colon;
		r.file = from(t, colon + 1);
	}
	return r;
}

/* The assembly of "type [assembly] Type::Method": the first brackets with something in them that
 * stand alone. Where they end in @t, 0 = there are none. */
static size_t find_assembly(text t, text *ret)
{
	size_t open = 0;

	for (size_t i = 1; i + 1 < t.n; i++) {
		if (t.at[i] == '[' && t.at[i - 1] == ' ')
			open = i + 1;
		if (t.at[i] == ']' && t.at[i + 1] == ' ' && open && i > open) {
			*ret = (text){t.at + open, i - open};
			return i + 2;
		}
	}
	return 0;
}

static bool read_method(text t, struct dw_jit_name *r)
{
	size_t at, colons;
	text assembly;

	if (!t.n || t.at[t.n - 1] != ']')
		return false;
	at = find_assembly(t, &assembly);
	if (!at)
		return false;
	t = from(t, at);
	colons = position(t, "::");
	if (!colons || colons + 2 >= t.n)
		return false;
	t.n = colons + 2 + position(from(t, colons + 2), "(");
	*r = (struct dw_jit_name){.name = t, .assembly = assembly};
	return true;
}

static struct dw_jit_name read_any(text t)
{
	static const char *const scripts[] = {
		"JS:", "LazyCompile:", "Function:", "Eval:", "Script:"};
	struct dw_jit_name r = {.name = t};

	for (size_t i = 0; i < sizeof scripts / sizeof *scripts; i++)
		if (begins(t, scripts[i]))
			return read_script(from(t, strlen(scripts[i])));
	if (begins(t, "py::"))
		return read_python(from(t, strlen("py::")));
	read_method(t, &r);
	return r;
}

struct dw_jit_name dw_jit_name_read(const char *bytes, size_t n)
{
	struct dw_jit_name r = read_any((text){bytes, n});

	if (!r.name.n)
		r.name = (text){ANONYMOUS, strlen(ANONYMOUS)};
	return r;
}
