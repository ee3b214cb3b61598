/*
 * Assemblies as files (PE): which debug information is theirs. Hostile input, all bounds-checked.
 * Of a file only what is needed is read: the framework's have megabytes. [any-thread]
 */
#pragma once

#include "code/clr/pdb.h"

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
