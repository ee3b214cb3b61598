/*
 * PDBs, assemblies and single-file programs from anywhere: the input is read as each of them, and
 * asked for lines.
 */
#include "base/buf.h"
#include "code/clr/assembly.h"
#include "code/clr/pdb.h"

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

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

static void read_pdb(const void *bytes, size_t n)
{
	struct dw_pdb pdb;

	if (bytes && !dw_pdb_open(bytes, n, &pdb))
		ask(&pdb);
}

static void read_bundle(const uint8_t *data, size_t size)
{
	struct dw_bundle_file file;
	uint64_t list = 0;

	dw_bundle_find(data, size, "managed.dll", &file);
	if (dw_bundle_list_at(data, size, &list) && list < size)
		dw_bundle_find(data + list, size - list, "managed.dll", &file);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct dw_pe_file file = {.bytes = data, .n = size};
	uint8_t id[DWELL_PDB_ID_BYTES];
	void *embedded;
	size_t n = 0;

	dw_pe_pdb_id(&file, id);
	embedded = dw_pe_embedded_pdb(&file, &n);
	read_pdb(embedded, n);
	free(embedded);
	read_pdb(data, size);
	read_bundle(data, size);
	return 0;
}
