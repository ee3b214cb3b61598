/*
 * Portable PDB files: source lines of IL.
 *
 * Hostile input, all bounds-checked. The file's bytes are borrowed as long as the struct is used.
 * Sources: "Portable PDB v1.0" of dotnet/runtime and
 * ECMA-335 II.24. [any-thread]
 */
#pragma once

#include "base/buf.h"
#include "base/cursor.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { DWELL_PDB_ID_BYTES = 20 };

/* Rows of one table. */
struct dw_pdb_table {
	const uint8_t *rows;
	uint32_t n;
	uint32_t row_bytes;
};

struct dw_pdb {
	uint8_t id[DWELL_PDB_ID_BYTES]; /* as in the assembly that it is of */
	const uint8_t *blobs;
	size_t blobs_n;
	uint32_t blob_index_bytes, document_index_bytes;
	struct dw_pdb_table documents, methods;
};

/* Where a piece of a method's IL comes from. */
struct dw_pdb_line {
	uint32_t document; /* row, from 1 */
	uint32_t line, column;
	uint32_t line_end, column_end; /* exclusive */
};

/* Read the directory of the @n bytes at @bytes. 0 or DWELL_ERR_FORMAT. */
int dw_pdb_open(const void *bytes, size_t n, struct dw_pdb *ret);

/* The line of offset @il in the method of token row @method (from 1). False: it has none. */
bool dw_pdb_find(const struct dw_pdb *pdb, uint32_t method, uint32_t il, struct dw_pdb_line *ret);

/* The first line of the method. False: it has none. */
bool dw_pdb_first(const struct dw_pdb *pdb, uint32_t method, struct dw_pdb_line *ret);

/* Append the path of document @row to @ret. False: there is none. */
bool dw_pdb_document(const struct dw_pdb *pdb, uint32_t row, struct dw_buf *ret);
