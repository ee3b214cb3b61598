/* The selection of probes; see probe-selection.h. */
#include "record/probe-selection.h"

#include "base/cleanup.h"

#include <fnmatch.h>
#include <string.h>

static bool fits(const struct dw_globs *globs, const char *text)
{
	for (size_t i = 0; i < globs->n; i++)
		if (!fnmatch(globs->v[i], text, 0))
			return true;
	return false;
}

int dw_probe_selection_find_module(const struct dw_globs *globs, const char *path)
{
	const char *slash = strrchr(path, '/');

	for (size_t i = 0; i < globs->n; i++)
		if (!fnmatch(globs->v[i], path, 0) ||
		    (slash && !fnmatch(globs->v[i], slash + 1, 0)))
			return (int)i;
	return -1;
}

bool dw_probe_selection_needs_names(const struct dw_probe_selection *c)
{
	return c->include.n || c->exclude.n || c->slowest.n;
}

/* Bytes of @name, @n long, before the parameters that end it: the last pair of parentheses with
 * what it encloses. */
static size_t without_parameters(const char *name, size_t n)
{
	size_t end = n, depth = 0;

	while (end > 0 && name[end - 1] != ')')
		end--;
	while (end > 0) {
		end--;
		depth += name[end] == ')';
		depth -= name[end] == '(';
		if (!depth)
			break;
	}
	return end ? end : n;
}

/* Bytes of @name, @n long, before the suffixes of compilers. */
static size_t without_suffixes(const char *name, size_t n)
{
	static const char *const marks[] = {" [clone ", ".cold",       ".part.",
					    ".isra.",	".constprop.", ".llvm."};

	for (size_t i = 0; i < sizeof marks / sizeof *marks; i++) {
		const char *at = memmem(name, n, marks[i], strlen(marks[i]));

		if (at && at > name)
			n = (size_t)(at - name);
	}
	return n;
}

static bool fits_function(const struct dw_globs *globs, const char *name)
{
	dw_auto_free char *copy = NULL;
	size_t n = strlen(name);

	if (!globs->n)
		return false;
	if (fits(globs, name))
		return true;
	copy = strdup(name);
	if (!copy)
		return false;
	copy[n = without_suffixes(copy, n)] = 0;
	if (fits(globs, copy))
		return true;
	copy[without_parameters(copy, n)] = 0;
	return fits(globs, copy);
}

bool dw_probe_selection_has_function(const struct dw_probe_selection *c, const char *name)
{
	return (!c->include.n || fits_function(&c->include, name)) &&
	       !fits_function(&c->exclude, name);
}

bool dw_probe_selection_has_slowest(const struct dw_probe_selection *c, const char *name)
{
	return fits_function(&c->slowest, name);
}
