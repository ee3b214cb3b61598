/*
 * PE files; see pe.h. Headers, sections and the debug directory as in Microsoft's "PE Format". The
 * id of a portable PDB is the GUID of the CodeView entry and its time stamp. One that the assembly
 * carries is an entry of its own: a mark, its size, the PDB deflated ("PE/COFF Specification" of
 * dotnet/runtime).
 */
#include "code/clr/pe.h"

#include "code/clr/inflate.h"

#include <string.h>

enum {
	DOS_MAGIC = 0x5a4d,   /* "MZ" */
	DOS_HEADER_AT = 0x3c, /* where the offset of the PE header stands */
	PE_MAGIC = 0x4550,    /* "PE\0\0" */
	OPTIONAL_64 = 0x20b,
	DIRECTORIES_32 = 96, /* in the optional header */
	DIRECTORIES_64 = 112,
	DIRECTORY_DEBUG = 6,
	DIRECTORY_BYTES = 8,
	SECTION_BYTES = 40,
	ENTRY_BYTES = 28,
	ENTRY_CODEVIEW = 2,
	ENTRY_EMBEDDED = 17,
	ENTRIES_MAX = 64,
	CODEVIEW_MAGIC = 0x53445352, /* "RSDS" */
	EMBEDDED_MAGIC = 0x4244504d, /* "MPDB" */
	GUID_BYTES = 16,
};

struct pe {
	struct dw_cursor c;
	uint32_t optional_at, optional_bytes, sections;
};

static bool open_pe(const void *bytes, size_t n, struct pe *ret)
{
	struct dw_cursor *c = &ret->c;
	uint32_t at;

	dw_cursor_init(c, bytes, n);
	if (dw_cursor_u16(c) != DOS_MAGIC)
		return false;
	dw_cursor_seek(c, DOS_HEADER_AT);
	at = dw_cursor_u32(c);
	dw_cursor_seek(c, at);
	if (dw_cursor_u32(c) != PE_MAGIC)
		return false;
	dw_cursor_skip(c, 2);
	ret->sections = dw_cursor_u16(c);
	dw_cursor_skip(c, 12);
	ret->optional_bytes = dw_cursor_u16(c);
	dw_cursor_skip(c, 2);
	ret->optional_at = (uint32_t)dw_cursor_offset(c);
	return !c->failed;
}

/* Where in the file the byte at @rva is. False: nowhere. */
static bool file_offset(struct pe *pe, uint32_t rva, uint32_t *ret)
{
	struct dw_cursor *c = &pe->c;

	for (uint32_t i = 0; i < pe->sections && !c->failed; i++) {
		uint32_t start, bytes, at;

		dw_cursor_seek(c, (size_t)pe->optional_at + pe->optional_bytes + i * SECTION_BYTES);
		dw_cursor_skip(c, 12);
		start = dw_cursor_u32(c);
		bytes = dw_cursor_u32(c);
		at = dw_cursor_u32(c);
		if (c->failed || rva < start || rva - start >= bytes)
			continue;
		*ret = at + (rva - start);
		return true;
	}
	return false;
}

/* An entry of the debug directory. */
struct entry {
	uint32_t stamp, bytes, at; /* of its data */
};

/* The first entry of @kind. False: there is none. */
static bool find_entry(struct pe *pe, uint32_t kind, struct entry *ret)
{
	struct dw_cursor *c = &pe->c;
	uint32_t directory, rva, size, at;

	dw_cursor_seek(c, pe->optional_at);
	directory = dw_cursor_u16(c) == OPTIONAL_64 ? DIRECTORIES_64 : DIRECTORIES_32;
	dw_cursor_seek(c, pe->optional_at + directory + DIRECTORY_DEBUG * DIRECTORY_BYTES);
	rva = dw_cursor_u32(c);
	size = dw_cursor_u32(c);
	if (c->failed || !file_offset(pe, rva, &at))
		return false;
	for (uint32_t i = 0; i < size / ENTRY_BYTES && i < ENTRIES_MAX && !c->failed; i++) {
		uint32_t found;

		dw_cursor_seek(c, (size_t)at + i * ENTRY_BYTES + 4);
		ret->stamp = dw_cursor_u32(c);
		dw_cursor_skip(c, 4);
		found = dw_cursor_u32(c);
		ret->bytes = dw_cursor_u32(c);
		dw_cursor_skip(c, 4);
		ret->at = dw_cursor_u32(c);
		if (found == kind && !c->failed)
			return true;
	}
	return false;
}

bool dw_pe_pdb_id(const void *bytes, size_t n, uint8_t ret[DWELL_PDB_ID_BYTES])
{
	const uint8_t *guid;
	struct entry entry;
	struct pe pe;

	if (!open_pe(bytes, n, &pe) || !find_entry(&pe, ENTRY_CODEVIEW, &entry))
		return false;
	dw_cursor_seek(&pe.c, entry.at);
	if (dw_cursor_u32(&pe.c) != CODEVIEW_MAGIC)
		return false;
	guid = dw_cursor_bytes(&pe.c, GUID_BYTES);
	if (!guid)
		return false;
	memcpy(ret, guid, GUID_BYTES);
	for (int i = 0; i < 4; i++)
		ret[GUID_BYTES + i] = (uint8_t)(entry.stamp >> 8 * i);
	return true;
}

void *dw_pe_embedded_pdb(const void *bytes, size_t n, size_t *ret_n)
{
	const uint8_t *packed;
	struct entry entry;
	struct pe pe;

	if (!open_pe(bytes, n, &pe) || !find_entry(&pe, ENTRY_EMBEDDED, &entry) || entry.bytes < 8)
		return NULL;
	dw_cursor_seek(&pe.c, entry.at);
	if (dw_cursor_u32(&pe.c) != EMBEDDED_MAGIC)
		return NULL;
	*ret_n = dw_cursor_u32(&pe.c);
	packed = dw_cursor_bytes(&pe.c, entry.bytes - 8);
	return packed ? dw_inflate(packed, entry.bytes - 8, *ret_n) : NULL;
}
