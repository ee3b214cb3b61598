/*
 * The selection of probes: modules and functions, by globs (fnmatch) on names.
 *
 * A glob for functions is compared with the demangled name, with and without its parameters and
 * without what compilers put behind a name (".cold", ".part.0"): parts of a chosen function are
 * chosen. Words are borrowed. Pure functions. [any-thread]
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

struct dw_globs {
	const char *const *v;
	size_t n;
};

struct dw_probe_selection {
	struct dw_globs modules; /* beside the executable: file names or paths */
	struct dw_globs include; /* functions, none = all */
	struct dw_globs exclude; /* functions, wins over @include */
	struct dw_globs slowest; /* functions of which several of the slowest calls are wanted */
};

/* The first of @globs, as index, that fits the file name of @path or all of it, -1 = none. */
int dw_probe_selection_find_module(const struct dw_globs *globs, const char *path);

/* Whether functions are chosen by name at all. */
bool dw_probe_selection_needs_names(const struct dw_probe_selection *c);

/* Whether the function called @name is chosen. */
bool dw_probe_selection_has_function(const struct dw_probe_selection *c, const char *name);

/* Whether several of its slowest calls are wanted. */
bool dw_probe_selection_has_slowest(const struct dw_probe_selection *c, const char *name);
