/* Interned strings; see strings.h. Texts live in blocks that never move, so borrowed pointers stay
 * good. */
#include "base/strings.h"

#include "base/vec.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { BLOCK_BYTES = 64 * 1024 };

struct block {
	struct block *next;
	char bytes[];
};

struct lookup {
	const struct dw_strings *table;
	const char *s;
	size_t n;
};

static bool is_equal(const void *ctx, uint32_t id)
{
	const struct lookup *l = ctx;

	return l->table->len[id] == l->n && !memcmp(l->table->text[id], l->s, l->n);
}

static uint32_t hash_string(const char *s, size_t n)
{
	return (uint32_t)dw_hash_bytes(s, n, 0);
}

static char *take_storage(struct dw_strings *t, size_t n)
{
	char *p;

	if (t->chunk_left < n) {
		size_t bytes = n > BLOCK_BYTES ? n : BLOCK_BYTES;
		struct block *b = malloc(sizeof *b + bytes);

		if (!b)
			return NULL;
		b->next = t->chunks;
		t->chunks = b;
		t->chunk = b->bytes;
		t->chunk_left = bytes;
	}
	p = t->chunk;
	t->chunk += n;
	t->chunk_left -= n;
	return p;
}

uint32_t dw_strings_find(const struct dw_strings *t, const char *s, size_t n)
{
	struct lookup l = {t, s, n};

	return n ? dw_idset_find(&t->set, hash_string(s, n), is_equal, &l) : 0;
}

/* Room for one more id in both columns. */
static int make_room(struct dw_strings *t)
{
	size_t need = (size_t)t->n + 2, len_cap = t->cap;

	if (t->n >= UINT32_MAX - 2)
		return -ENOMEM;
	if (need <= t->cap)
		return 0;
	if (dw_vec_grow((void **)&t->len, &len_cap, need, sizeof *t->len))
		return -ENOMEM;
	return dw_vec_grow((void **)&t->text, &t->cap, need, sizeof *t->text);
}

int dw_strings_add(struct dw_strings *t, const char *s, size_t n, uint32_t *ret)
{
	uint32_t id;
	char *copy;

	n = n ? strnlen(s, n) : 0;
	id = dw_strings_find(t, s, n);
	if (id || !n) {
		*ret = id;
		return 0;
	}
	if (n >= UINT32_MAX || make_room(t))
		return -ENOMEM;
	copy = take_storage(t, n + 1);
	if (!copy)
		return -ENOMEM;
	memcpy(copy, s, n);
	copy[n] = 0;
	id = t->n ? t->n : 1;
	if (dw_idset_add(&t->set, hash_string(s, n), id))
		return -ENOMEM;
	t->text[id] = copy;
	t->len[id] = (uint32_t)n;
	t->n = id + 1;
	*ret = id;
	return 0;
}

int dw_strings_adds(struct dw_strings *t, const char *s, uint32_t *ret)
{
	return dw_strings_add(t, s, s ? strlen(s) : 0, ret);
}

void dw_strings_release(struct dw_strings *t)
{
	for (struct block *b = t->chunks, *next; b; b = next) {
		next = b->next;
		free(b);
	}
	free(t->text);
	free(t->len);
	dw_idset_release(&t->set);
	*t = (struct dw_strings){0};
}
