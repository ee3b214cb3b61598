/*
 * Assemblies as files (PE): which debug information is theirs. Hostile input, all bounds-checked.
 * [any-thread]
 */
#pragma once

#include "code/clr/pdb.h"

/* The id of the PDB that the assembly in the @n bytes at @bytes was built with. False: it names
 * none. */
bool dw_pe_pdb_id(const void *bytes, size_t n, uint8_t ret[DWELL_PDB_ID_BYTES]);

/* The PDB that the assembly carries in itself, *@ret_n bytes, which the caller frees. NULL = it has
 * none, or no memory. */
void *dw_pe_embedded_pdb(const void *bytes, size_t n, size_t *ret_n);
