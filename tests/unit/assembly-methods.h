/* The bodies of all methods of an assembly in memory: a small reader of its metadata, for tests of
 * trusted files. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct methods {
	const uint8_t *file;
	size_t n;
	const uint8_t *rows; /* of methods */
	uint32_t count, row_bytes;
	const uint8_t *segments; /* of the file */
	uint32_t segments_n;
};

static uint32_t methods_get(const uint8_t *at, int n)
{
	uint32_t v = 0;

	memcpy(&v, at, (size_t)n);
	return v;
}

/* What lies at @rva, and *@left bytes to the end of its segment. NULL = nothing. */
static const uint8_t *methods_at(const struct methods *m, uint32_t rva, size_t *left)
{
	for (uint32_t i = 0; i < m->segments_n; i++) {
		const uint8_t *s = m->segments + (size_t)i * 40;
		uint32_t at = methods_get(s + 12, 4), bytes = methods_get(s + 16, 4),
			 from = methods_get(s + 20, 4);

		if (rva >= at && rva - at < bytes && (size_t)from + bytes <= m->n) {
			*left = bytes - (rva - at);
			return m->file + from + (rva - at);
		}
	}
	return NULL;
}

/* Find the rows in the stream of tables. */
static bool methods_tables(struct methods *m, const uint8_t *at)
{
	uint32_t rows[64] = {0}, string, guid, blob, wide, type, bytes[6];
	uint8_t heaps = at[6];
	const uint8_t *next = at + 24;

	for (int i = 0; i < 64; i++) {
		if (at[8 + i / 8] >> i % 8 & 1) {
			rows[i] = methods_get(next, 4);
			next += 4;
		}
	}
	next += heaps & 0x40 ? 4 : 0;
	string = heaps & 1 ? 4 : 2;
	guid = heaps & 2 ? 4 : 2;
	blob = heaps & 4 ? 4 : 2;
#define METHODS_INDEX(n, bits) ((n) >> (16 - (bits)) ? 4u : 2u)
	wide = METHODS_INDEX(rows[0] | rows[0x1a] | rows[0x23] | rows[1], 2);
	type = METHODS_INDEX(rows[2] | rows[1] | rows[0x1b], 2);
	bytes[0] = 2 + string + 3 * guid;
	bytes[1] = wide + 2 * string;
	bytes[2] = 4 + 2 * string + type + METHODS_INDEX(rows[4], 0) + METHODS_INDEX(rows[6], 0);
	bytes[3] = METHODS_INDEX(rows[4], 0);
	bytes[4] = 2 + string + blob;
	bytes[5] = METHODS_INDEX(rows[6], 0);
	for (int i = 0; i < 6; i++)
		next += (size_t)rows[i] * bytes[i];
	m->rows = next;
	m->count = rows[6];
	m->row_bytes = 8 + string + blob + METHODS_INDEX(rows[8], 0);
	return true;
}

static bool methods_open(const uint8_t *file, size_t n, struct methods *m)
{
	const uint8_t *pe = file + methods_get(file + 0x3c, 4), *optional = pe + 24, *clr, *root,
		      *s;
	size_t left;

	*m = (struct methods){.file = file, .n = n};
	m->segments_n = methods_get(pe + 6, 2);
	m->segments = optional + methods_get(pe + 20, 2);
	clr = methods_at(
		m,
		methods_get(optional + (methods_get(optional, 2) == 0x20b ? 112 : 96) + 14 * 8, 4),
		&left);
	root = clr ? methods_at(m, methods_get(clr + 8, 4), &left) : NULL;
	if (!root)
		return false;
	s = root + 16 + methods_get(root + 12, 4) + 4;
	for (uint32_t i = methods_get(s - 2, 2); i; i--) {
		const char *name = (const char *)s + 8;

		if (!strcmp(name, "#~"))
			return methods_tables(m, root + methods_get(s, 4));
		s += 8 + ((strlen(name) + 4) & ~(size_t)3);
	}
	return false;
}

/* The body of method @i from 0, at most *@n bytes. NULL = it has none. */
static const uint8_t *methods_body(const struct methods *m, uint32_t i, size_t *n)
{
	const uint8_t *row = m->rows + (size_t)i * m->row_bytes;
	uint32_t rva = methods_get(row, 4);

	/* Native ones have no IL, whatever lies there. */
	return rva && !(methods_get(row + 4, 2) & 3) ? methods_at(m, rva, n) : NULL;
}
