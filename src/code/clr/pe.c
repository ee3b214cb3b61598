/*
 * PE files; see pe.h. Headers, sections and the debug directory as in Microsoft's "PE Format". The
 * id of a portable PDB is the GUID of the CodeView entry and its time stamp. One that the assembly
 * carries is an entry of its own: a mark, its size, the PDB deflated ("PE/COFF Specification" of
 * dotnet/runtime).
 */
#include "code/clr/pe.h"

#include "base/cleanup.h"
#include "code/clr/inflate.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

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
	HEADERS_BYTES = 4096, /* from the PE header on: a dozen sections and more than we ask for */
	EMBEDDED_MAX = 256 << 20,
};

struct pe {
	const struct dw_pe_file *file;
	uint8_t headers[HEADERS_BYTES];
	struct dw_cursor c; /* of the headers */
	uint32_t optional_at, optional_bytes, sections;
};

/* Copy @n bytes at @at of the assembly. False: they are not all there. */
static bool read_at(const struct dw_pe_file *file, uint64_t at, void *to, size_t n)
{
	if (at > file->n || n > file->n - at)
		return false;
	if (file->bytes && n)
		memcpy(to, (const char *)file->bytes + at, n);
	while (!file->bytes && n) {
		ssize_t got = pread(file->fd, to, n, (off_t)(file->at + at));

		if (got <= 0)
			return false;
		to = (char *)to + got;
		at += (uint64_t)got;
		n -= (size_t)got;
	}
	return true;
}

static uint32_t number(const uint8_t *bytes)
{
	return bytes[0] | (uint32_t)bytes[1] << 8 | (uint32_t)bytes[2] << 16 |
	       (uint32_t)bytes[3] << 24;
}

static bool open_pe(const struct dw_pe_file *file, struct pe *ret)
{
	struct dw_cursor *c = &ret->c;
	uint8_t dos[DOS_HEADER_AT + 4];
	uint32_t at;
	size_t n;

	ret->file = file;
	if (!read_at(file, 0, dos, sizeof dos) || dos[0] != (DOS_MAGIC & 0xff) ||
	    dos[1] != DOS_MAGIC >> 8)
		return false;
	at = number(dos + DOS_HEADER_AT);
	n = at < file->n ? file->n - at : 0;
	n = n < HEADERS_BYTES ? n : HEADERS_BYTES;
	if (!read_at(file, at, ret->headers, n))
		return false;
	dw_cursor_init(c, ret->headers, n);
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
	for (uint32_t i = 0; i < size / ENTRY_BYTES && i < ENTRIES_MAX; i++) {
		uint8_t bytes[ENTRY_BYTES];

		if (!read_at(pe->file, (uint64_t)at + i * ENTRY_BYTES, bytes, sizeof bytes))
			return false;
		*ret = (struct entry){number(bytes + 4), number(bytes + 16), number(bytes + 24)};
		if (number(bytes + 12) == kind)
			return true;
	}
	return false;
}

bool dw_pe_pdb_id(const struct dw_pe_file *file, uint8_t ret[DWELL_PDB_ID_BYTES])
{
	uint8_t data[4 + GUID_BYTES];
	struct entry entry;
	struct pe pe;

	if (!open_pe(file, &pe) || !find_entry(&pe, ENTRY_CODEVIEW, &entry) ||
	    !read_at(file, entry.at, data, sizeof data) || number(data) != CODEVIEW_MAGIC)
		return false;
	memcpy(ret, data + 4, GUID_BYTES);
	for (int i = 0; i < 4; i++)
		ret[GUID_BYTES + i] = (uint8_t)(entry.stamp >> 8 * i);
	return true;
}

void *dw_pe_embedded_pdb(const struct dw_pe_file *file, size_t *ret_n)
{
	dw_auto_free void *packed = NULL;
	uint8_t head[8];
	struct entry entry;
	struct pe pe;
	size_t n;

	if (!open_pe(file, &pe) || !find_entry(&pe, ENTRY_EMBEDDED, &entry) ||
	    entry.bytes < sizeof head || entry.bytes > EMBEDDED_MAX || entry.bytes > file->n ||
	    !read_at(file, entry.at, head, sizeof head) || number(head) != EMBEDDED_MAGIC)
		return NULL;
	n = entry.bytes - sizeof head;
	packed = malloc(n + 1);
	if (!packed || !read_at(file, (uint64_t)entry.at + sizeof head, packed, n))
		return NULL;
	*ret_n = number(head + 4);
	return dw_inflate(packed, n, *ret_n);
}
