/*
 * Open-addressing tables; see map.h. Linear probing keeps a lookup within one or two cache lines;
 * keys are mixed first, because ids and addresses are anything but random.
 */
#include "base/map.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { FIRST_SLOTS = 64 };

static bool is_full(const void *slots, size_t mask, size_t used)
{
	return !slots || (used + 1) * 4 > (mask + 1) * 3;
}

static struct dw_map_slot *map_slot(const struct dw_map *m, uint64_t key)
{
	size_t i = dw_hash_u64(key) & m->mask;

	while (m->slots[i].value && m->slots[i].key != key)
		i = (i + 1) & m->mask;
	return &m->slots[i];
}

uint32_t dw_map_get(const struct dw_map *m, uint64_t key)
{
	return m->slots ? map_slot(m, key)->value : 0;
}

static int map_grow(struct dw_map *m)
{
	size_t slots = m->slots ? (m->mask + 1) * 2 : FIRST_SLOTS;
	struct dw_map bigger = {calloc(slots, sizeof *bigger.slots), slots - 1, m->used};

	if (!bigger.slots)
		return -ENOMEM;
	for (size_t i = 0; m->slots && i <= m->mask; i++)
		if (m->slots[i].value)
			*map_slot(&bigger, m->slots[i].key) = m->slots[i];
	free(m->slots);
	*m = bigger;
	return 0;
}

int dw_map_put(struct dw_map *m, uint64_t key, uint32_t value)
{
	struct dw_map_slot *slot;

	if (is_full(m->slots, m->mask, m->used) && map_grow(m))
		return -ENOMEM;
	slot = map_slot(m, key);
	m->used += !slot->value;
	*slot = (struct dw_map_slot){key, value};
	return 0;
}

void dw_map_release(struct dw_map *m)
{
	free(m->slots);
	*m = (struct dw_map){0};
}

uint32_t dw_idset_find(const struct dw_idset *s, uint32_t hash, dw_idset_equal_fn *equal,
		       const void *ctx)
{
	if (!s->slots)
		return 0;
	for (size_t i = hash & s->mask; s->slots[i].id; i = (i + 1) & s->mask)
		if (s->slots[i].hash == hash && equal(ctx, s->slots[i].id))
			return s->slots[i].id;
	return 0;
}

static void idset_insert(struct dw_idset *s, struct dw_idset_slot slot)
{
	size_t i = slot.hash & s->mask;

	while (s->slots[i].id)
		i = (i + 1) & s->mask;
	s->slots[i] = slot;
}

static int idset_grow(struct dw_idset *s)
{
	size_t slots = s->slots ? (s->mask + 1) * 2 : FIRST_SLOTS;
	struct dw_idset bigger = {calloc(slots, sizeof *bigger.slots), slots - 1, s->used};

	if (!bigger.slots)
		return -ENOMEM;
	for (size_t i = 0; s->slots && i <= s->mask; i++)
		if (s->slots[i].id)
			idset_insert(&bigger, s->slots[i]);
	free(s->slots);
	*s = bigger;
	return 0;
}

int dw_idset_add(struct dw_idset *s, uint32_t hash, uint32_t id)
{
	if (is_full(s->slots, s->mask, s->used) && idset_grow(s))
		return -ENOMEM;
	idset_insert(s, (struct dw_idset_slot){hash, id});
	s->used++;
	return 0;
}

void dw_idset_release(struct dw_idset *s)
{
	free(s->slots);
	*s = (struct dw_idset){0};
}

uint64_t dw_hash_bytes(const void *p, size_t n, uint64_t seed)
{
	const unsigned char *bytes = p;
	uint64_t h = dw_hash_u64(seed ^ n * 0x9e3779b97f4a7c15u), word;

	for (; n >= 8; bytes += 8, n -= 8) {
		memcpy(&word, bytes, 8);
		h = (h ^ dw_hash_u64(word)) * 0x9e3779b97f4a7c15u;
	}
	word = 0;
	if (n)
		memcpy(&word, bytes, n);
	return dw_hash_u64(h ^ word);
}

static uint32_t hash_of(uint64_t a, uint64_t b)
{
	return (uint32_t)dw_hash_u64(dw_hash_u64(a) + b);
}

struct wanted {
	const struct dw_pairs *pairs;
	struct dw_pair pair;
};

static bool is_equal(const void *ctx, uint32_t id)
{
	const struct wanted *w = ctx;
	const struct dw_pair *p = &w->pairs->v.v[id - 1];

	return p->a == w->pair.a && p->b == w->pair.b;
}

uint32_t dw_pairs_find(const struct dw_pairs *p, uint64_t a, uint64_t b)
{
	struct wanted w = {p, {a, b}};

	return dw_idset_find(&p->set, hash_of(a, b), is_equal, &w);
}

uint32_t dw_pairs_add(struct dw_pairs *p, uint64_t a, uint64_t b)
{
	uint32_t id = dw_pairs_find(p, a, b);

	if (id || p->v.n >= UINT32_MAX - 1 || dw_vec_push(&p->v, (struct dw_pair){a, b}))
		return id;
	if (!dw_idset_add(&p->set, hash_of(a, b), (uint32_t)p->v.n))
		return (uint32_t)p->v.n;
	p->v.n--;
	return 0;
}

void dw_pairs_release(struct dw_pairs *p)
{
	dw_vec_release(&p->v);
	dw_idset_release(&p->set);
}
