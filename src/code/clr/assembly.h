/*
 * Assemblies as files (PE), which debug information is theirs, and single-file programs of .NET:
 * the host's code, its assemblies behind it, and a list of them.
 *
 * Hostile input, all bounds-checked. Of a file only what is needed is read: the framework's have
 * megabytes. [any-thread]
 */
#pragma once

#include "code/clr/pdb.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { DWELL_INFLATE_MAX = 64 << 20 }; /* bytes, more is refused */

/* The @n bytes that the raw deflate of @packed_n bytes at @packed stands for, as assemblies and
 * bundles have it, which the caller frees. NULL = it does not, or no memory. */
void *dw_inflate(const void *packed, size_t packed_n, uint64_t n);

/* An assembly of @n bytes, borrowed: in memory, or at @at of a file. */
struct dw_pe_file {
	const void *bytes; /* NULL = in the file */
	int fd;
	uint64_t at;
	size_t n;
};

/* The id of the PDB that the assembly was built with. False: it names none. */
bool dw_pe_pdb_id(const struct dw_pe_file *file, uint8_t ret[DWELL_PDB_ID_BYTES]);

/* The PDB that the assembly carries in itself, *@ret_n bytes, which the caller frees. NULL = it has
 * none, or no memory. */
void *dw_pe_embedded_pdb(const struct dw_pe_file *file, size_t *ret_n);

enum { DWELL_BUNDLE_MARK_BYTES = 40 };

/* One of a program's files. */
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
