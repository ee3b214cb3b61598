/* Which assemblies have probes; see scope.h. */
#include "agent/managed/scope.h"

#include "agent/core/bytes.h"

#include <stddef.h>

enum { PATTERN_BYTES = 1024 };

static const char *wanted; /* a list of globs */

/* What analysis/just-my-code.c calls the system's, of assemblies: a test holds both to each other.
 */
static const char *const framework[] = {"System.*", "Microsoft.*", "mscorlib*", "netstandard*"};

/* A folder of shared frameworks has this in its path. */
static const char *const shared = "*/shared/Microsoft.*/*";

/* Exceptions are dispatched and threads set up in it: its methods run where no probe may. */
static const char *const core = "System.Private.CoreLib.dll";

bool dw_managed_fits(const char *text, uint32_t bytes, const char *pattern, uint32_t pattern_bytes)
{
	uint32_t t = 0, p = 0, star = UINT32_MAX, from = 0;

	while (t < bytes) {
		if (p < pattern_bytes && pattern[p] == '*') {
			star = p++;
			from = t;
		} else if (p < pattern_bytes && (pattern[p] == '?' || pattern[p] == text[t])) {
			p++;
			t++;
		} else if (star != UINT32_MAX) {
			p = star + 1;
			t = ++from;
		} else {
			return false;
		}
	}
	while (p < pattern_bytes && pattern[p] == '*')
		p++;
	return p == pattern_bytes;
}

static bool fits(const char *text, uint32_t bytes, const char *pattern)
{
	return dw_managed_fits(text, bytes, pattern, (uint32_t)dw_text_length(pattern));
}

/* Where the file's name begins in @path. */
static uint32_t name_at(const char *path, uint32_t bytes)
{
	while (bytes && path[bytes - 1] != '/')
		bytes--;
	return bytes;
}

/* The next byte of a list at *@at, which is moved behind it. */
static char take_byte(const char **at)
{
	uint32_t value = 0;

	if (**at != '%')
		return *(*at)++;
	++*at;
	for (int i = 0; i < 2 && **at && **at != ' '; i++, ++*at)
		value = 16 * value +
			(uint32_t)(**at <= '9' ? **at - '0' : (**at | 0x20) - 'a' + 10);
	return (char)value;
}

bool dw_managed_fits_one(const char *list, const char *text, uint32_t bytes)
{
	char pattern[PATTERN_BYTES];
	uint32_t n;

	while (list && *list && *list != ' ') {
		for (n = 0; *list && *list != ' ' && *list != ',';) {
			char c = take_byte(&list);

			if (n < PATTERN_BYTES)
				pattern[n++] = c;
		}
		list += *list == ',';
		if (dw_managed_fits(text, bytes, pattern, n))
			return true;
	}
	return false;
}

void dw_managed_scope_start(const char *mode)
{
	wanted = dw_text_option(mode, "modules");
}

bool dw_managed_scope_wants(const char *path, uint32_t bytes)
{
	uint32_t name = name_at(path, bytes);

	if (!bytes || path[0] != '/' || fits(path + name, bytes - name, core))
		return false;
	if (dw_managed_fits_one(wanted, path, bytes) ||
	    dw_managed_fits_one(wanted, path + name, bytes - name))
		return true;
	for (size_t i = 0; i < sizeof(framework) / sizeof(*framework); i++)
		if (fits(path + name, bytes - name, framework[i]))
			return false;
	return !fits(path, bytes, shared);
}
