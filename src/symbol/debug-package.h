/*
 * Which package of the distribution has the debug information of a file: of Debian and those made
 * from it, by the lists of files that dpkg keeps.
 */
#pragma once

/* Write the names of the packages for @paths (@n), each once, with commas between, to a text that
 * the caller frees. NULL when none of them is of a package, or without memory. */
char *dw_debug_packages(const char *const *paths, unsigned n);

/* The same, of lists in @folder (for tests). */
char *dw_debug_packages_in(const char *folder, const char *const *paths, unsigned n);
