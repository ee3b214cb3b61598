/*
 * Assemblies as files (PE): which debug information is theirs. Hostile input, all bounds-checked.
 * [any-thread]
 */
#pragma once

#include "code/clr/pdb.h"

/* The id of the PDB that the assembly in the @n bytes at @bytes was built with. False: it names
 * none. */
bool dw_pe_pdb_id(const void *bytes, size_t n, uint8_t ret[DWELL_PDB_ID_BYTES]);
