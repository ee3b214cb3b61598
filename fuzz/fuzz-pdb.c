/*
 * PDBs and assemblies from anywhere: the input is read as both, and asked for lines.
 */
#include "base/buf.h"
#include "code/clr/pdb.h"
#include "code/clr/pe.h"

#include <stddef.h>
#include <stdint.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { METHODS = 64, OFFSETS = 4, DOCUMENTS = 16 };

static void ask(const struct dw_pdb *pdb)
{
	struct dw_pdb_line line;

	for (uint32_t method = 0; method <= METHODS; method++) {
		dw_pdb_first(pdb, method, &line);
		for (uint32_t i = 0; i < OFFSETS; i++)
			dw_pdb_find(pdb, method, i * 16, &line);
	}
	for (uint32_t row = 0; row <= DOCUMENTS; row++) {
		struct dw_buf path = DW_BUF_INIT;

		dw_pdb_document(pdb, row, &path);
		dw_buf_release(&path);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint8_t id[DWELL_PDB_ID_BYTES];
	struct dw_pdb pdb;

	dw_pe_pdb_id(data, size, id);
	if (!dw_pdb_open(data, size, &pdb))
		ask(&pdb);
	return 0;
}
