/*
 * Single-file programs of .NET: the host's code, its assemblies behind it, and a list of them.
 *
 * Hostile input, all bounds-checked. Source: the host model of dotnet/runtime ("bundler" design).
 * [any-thread]
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { DWELL_BUNDLE_MARK_BYTES = 40 };

/* One of the files. */
struct dw_bundle_file {
	uint64_t at, bytes;
	uint64_t packed_bytes; /* 0 = it stands there as it is, else raw deflate of that size */
};

/* Whether the @n bytes at @bytes, the front of a program, have the mark of a host, which those have
 * too that the SDK makes without files behind them. */
bool dw_bundle_is_host(const void *bytes, size_t n);

/* Where in the program the list begins; its mark must lie whole in the @n bytes at @bytes, a piece
 * of the host. False: there is none. */
bool dw_bundle_list_at(const void *bytes, size_t n, uint64_t *ret);

/* The file called @name in the list that begins at @list, whose end is at or before the @n bytes'.
 * False: there is none. */
bool dw_bundle_find(const void *list, size_t n, const char *name, struct dw_bundle_file *ret);
