/* Names across builds; see name.h. */
#include "compare/name.h"

#include <ctype.h>
#include <errno.h>
#include <string.h>

enum { RUST_HASH_BYTES = 16 };

/* Where the version at @s ends, which begins with a separator and a digit. */
static const char *skip_version(const char *s)
{
	for (s++; isdigit((unsigned char)*s) || (*s == '.' && isdigit((unsigned char)s[1])); s++)
		;
	return s;
}

int dw_name_put_module(struct dw_buf *ret, const char *name)
{
	const char *library = strstr(name, ".so"), *end;

	if (!library || (library[3] && library[3] != '.'))
		return dw_buf_puts(ret, name);
	/* A version before ".so". */
	for (end = name; end < library; end++)
		if (end > name && *end == '-' && isdigit((unsigned char)end[1]) &&
		    skip_version(end) == library)
			break;
	return dw_buf_put(ret, name, (size_t)(end - name)) ? -ENOMEM : dw_buf_puts(ret, ".so");
}

/* The end of the suffix at @s (a '.') that optimizers give to parts and copies of functions, NULL =
 * it is none. */
static const char *skip_suffix(const char *s)
{
	static const char *const words[] = {".constprop", ".part", ".isra",	  ".cold",
					    ".lto_priv",  ".llvm", ".localalias", ".warm"};

	for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
		size_t n = strlen(words[i]);

		if (strncmp(s, words[i], n) != 0 || isalpha((unsigned char)s[n]) || s[n] == '_')
			continue;
		for (s += n; *s == '.' && isdigit((unsigned char)s[1]);)
			s += 1 + strspn(s + 1, "0123456789");
		return s;
	}
	return NULL;
}

/* The end of a Rust hash at @s, "::h0123456789abcdef" before the end of a name. */
static const char *skip_hash(const char *s)
{
	if (strncmp(s, "::h", 3) != 0 || strspn(s + 3, "0123456789abcdef") != RUST_HASH_BYTES ||
	    s[3 + RUST_HASH_BYTES])
		return NULL;
	return s + 3 + RUST_HASH_BYTES;
}

/* How many bytes at @s come before a number that is given anew, 0 = no such number follows. */
static size_t numbered(const char *s)
{
	static const char *const heads[] = {"#",    "$_",	    ">b__",    ">d__",
					    ">g__", "DisplayClass", "'lambda", "AnonymousType"};

	for (size_t i = 0; i < sizeof heads / sizeof *heads; i++) {
		size_t n = strlen(heads[i]);

		if (strncmp(s, heads[i], n) != 0)
			continue;
		/* A local function of .NET has its name between: <Main>g__Add|0_1. */
		if (!strcmp(heads[i], ">g__")) {
			n += strcspn(s + n, "|");
			n += s[n] == '|';
		}
		return isdigit((unsigned char)s[n]) ? n : 0;
	}
	return 0;
}

/* The end of "[clone ...]" at @s with the blank before it. */
static const char *skip_clone(const char *s)
{
	const char *end = strncmp(s, " [clone ", 8) ? NULL : strchr(s, ']');

	return end ? end + 1 : NULL;
}

int dw_name_put_loose(struct dw_buf *ret, const char *name)
{
	while (*name) {
		const char *behind = *name == '.' ? skip_suffix(name) : NULL;
		size_t n;

		behind = behind ? behind : *name == ':' ? skip_hash(name) : NULL;
		behind = behind ? behind : *name == ' ' ? skip_clone(name) : NULL;
		if (behind) {
			name = behind;
			continue;
		}
		n = numbered(name);
		dw_buf_put(ret, name, n ? n : 1);
		name += n ? n + strspn(name + n, "0123456789_") : 1;
	}
	return ret->failed ? -ENOMEM : 0;
}
