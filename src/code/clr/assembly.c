/*
 * Assemblies and bundles; see assembly.h. Headers, sections and the debug directory as in
 * Microsoft's "PE Format". The id of a portable PDB is the GUID of the CodeView entry and its time
 * stamp. One that the assembly carries is an entry of its own: a mark, its size, the PDB deflated
 * ("PE/COFF Specification" of dotnet/runtime).
 *
 * A bundle's host has the place of the list before a mark of 32 bytes, 0 in a host
 * without files. The list is: versions, number of files, an id, from version 2 on places of two of
 * the files, then place, size and name of each, from version 6 on with the size when compressed
 * (the host model of dotnet/runtime, "bundler" design).
 */
#include "code/clr/assembly.h"

#include "base/cleanup.h"
#include "base/cursor.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

enum { MAX_RATIO = 1032, RAW_WINDOW = -15 };

static bool expand(const void *packed, size_t packed_n, void *out, size_t n)
{
	z_stream z = {.next_in = (Bytef *)packed,
		      .avail_in = (uInt)packed_n,
		      .next_out = out,
		      .avail_out = (uInt)n};
	int rc;

	if (inflateInit2(&z, RAW_WINDOW) != Z_OK)
		return false;
	rc = inflate(&z, Z_FINISH);
	inflateEnd(&z);
	return rc == Z_STREAM_END && z.total_out == n;
}

/* The size is a claim: it is held against what deflate can do at best before memory is taken, and
 * the output must have exactly that many bytes. */
void *dw_inflate(const void *packed, size_t packed_n, uint64_t n)
{
	dw_auto_free void *out = NULL;

	if (!n || n > DWELL_INFLATE_MAX || packed_n > DWELL_INFLATE_MAX || n / MAX_RATIO > packed_n)
		return NULL;
	out = malloc(n);
	return out && expand(packed, packed_n, out, n) ? dw_take_ptr(out) : NULL;
}

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

enum {
	MARK_BYTES = 32,
	PLACE_BYTES = DWELL_BUNDLE_MARK_BYTES - MARK_BYTES,
	VERSION_WITH_PLACES = 2,
	PLACES_BYTES = 40,
	VERSION_WITH_PACKED = 6,
};

/* The mark (the SHA-256 of ".net core bundle"), each byte complemented, and so that compilers do
 * not undo it: dwell is no such host, nor may it look like one. */
static const volatile uint8_t complement[MARK_BYTES] = {
	0x74, 0xed, 0xfd, 0x46, 0x95, 0x9e, 0xdf, 0xc7, 0x8d, 0x84, 0x6c,
	0xfd, 0xeb, 0x28, 0x5f, 0xcd, 0xec, 0x0a, 0x46, 0x19, 0x10, 0x51,
	0xcc, 0xe7, 0x11, 0xc4, 0xd2, 0x31, 0xdb, 0x4c, 0x95, 0x51};

static const uint8_t *find_mark(const void *bytes, size_t n)
{
	uint8_t mark[MARK_BYTES];

	for (int i = 0; i < MARK_BYTES; i++)
		mark[i] = (uint8_t)~complement[i];
	return memmem(bytes, n, mark, MARK_BYTES);
}

bool dw_bundle_is_host(const void *bytes, size_t n)
{
	return find_mark(bytes, n) != NULL;
}

bool dw_bundle_list_at(const void *bytes, size_t n, uint64_t *ret)
{
	const uint8_t *at =
		n > DWELL_BUNDLE_MARK_BYTES
			? find_mark((const uint8_t *)bytes + PLACE_BYTES, n - PLACE_BYTES)
			: NULL;
	struct dw_cursor c;

	if (!at)
		return false;
	dw_cursor_init(&c, at - PLACE_BYTES, PLACE_BYTES);
	*ret = dw_cursor_u64(&c);
	return *ret != 0;
}

/* The text at the cursor, which has its length before it; whether it is @name. */
static bool take_text(struct dw_cursor *c, const char *name)
{
	size_t bytes = dw_cursor_uleb(c);
	const uint8_t *text = dw_cursor_bytes(c, bytes);

	return text && strlen(name) == bytes && !memcmp(text, name, bytes);
}

bool dw_bundle_find(const void *list, size_t n, const char *name, struct dw_bundle_file *ret)
{
	struct dw_cursor c;
	uint32_t version, files;

	dw_cursor_init(&c, list, n);
	version = dw_cursor_u32(&c);
	dw_cursor_skip(&c, 4);
	files = dw_cursor_u32(&c);
	take_text(&c, "");
	if (version >= VERSION_WITH_PLACES)
		dw_cursor_skip(&c, PLACES_BYTES);
	for (uint32_t i = 0; i < files && !c.failed; i++) {
		ret->at = dw_cursor_u64(&c);
		ret->bytes = dw_cursor_u64(&c);
		ret->packed_bytes = version >= VERSION_WITH_PACKED ? dw_cursor_u64(&c) : 0;
		dw_cursor_skip(&c, 1);
		if (take_text(&c, name) && !c.failed)
			return true;
	}
	return false;
}
