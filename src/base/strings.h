/*
 * Interned strings: equal bytes get one id, small enough to put in every row.
 *
 * Id 0 is the empty string, which needs no storage. Strings are NUL-terminated, may hold any other
 * byte, and are borrowed until release: they never move. Not for sharing between threads.
 */
#pragma once

#include "base/map.h"

#include <stddef.h>
#include <stdint.h>

struct dw_strings {
	char **text;   /* by id; text[0] unused */
	uint32_t *len; /* by id, bytes */
	uint32_t n;    /* ids in use, 0 included once anything was added */
	size_t cap;
	char *chunk; /* current storage block */
	size_t chunk_left;
	void *chunks; /* list of all blocks */
	struct dw_idset set;
};

/* The id of @n bytes at @s, or of those before a NUL among them, added when new. *@ret is written
 * on success only. 0 or -ENOMEM. */
int dw_strings_add(struct dw_strings *t, const char *s, size_t n, uint32_t *ret);

/* As dw_strings_add() for a NUL-terminated string. NULL counts as empty. */
int dw_strings_adds(struct dw_strings *t, const char *s, uint32_t *ret);

/* The id of @s if it is there, else 0. */
uint32_t dw_strings_find(const struct dw_strings *t, const char *s, size_t n);

/* The text of @id, borrowed. "" for 0 and for ids that were never given out. */
static inline const char *dw_strings_get(const struct dw_strings *t, uint32_t id)
{
	return id && id < t->n ? t->text[id] : "";
}

/* Bytes in the text of @id, its NUL not counted. 0 for 0 and for ids that were never given out. */
static inline size_t dw_strings_len(const struct dw_strings *t, uint32_t id)
{
	return id && id < t->n ? t->len[id] : 0;
}

/* Free everything and leave the table empty. */
void dw_strings_release(struct dw_strings *t);
