/*
 * Which assemblies have probes: the application's own, and what the user names beside them.
 *
 * The application's are those that are not the framework's, by the names that the reports' "just my
 * code" goes by, nor lie in a folder of a shared framework. Assemblies without a file, which the
 * program makes itself, have none. [any-thread] after the start.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* Learn what the user names from @mode (DWELL_ENV_MODE), which stays. Before all others. */
void dw_managed_scope_start(const char *mode);

/* Whether the assembly with the path @path, of @bytes without a NUL, is wanted. */
bool dw_managed_scope_wants(const char *path, uint32_t bytes);

/* Whether @text, of @bytes, fits the @pattern_bytes of @pattern, where * stands for any bytes and ?
 * for one. Pure function. */
bool dw_managed_fits(const char *text, uint32_t bytes, const char *pattern, uint32_t pattern_bytes);

/* Whether @text fits one of the patterns of @list, an option of a mode: commas between them, what
 * has a meaning in a mode as %XX, NULL = none. Pure function. */
bool dw_managed_fits_one(const char *list, const char *text, uint32_t bytes);
