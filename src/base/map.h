/*
 * Hash tables by open addressing with linear probing: uint64_t -> uint32_t, and a set of ids.
 *
 * The map stores its own keys. The id set stores 32-bit ids of things that live elsewhere, with
 * their hashes; the caller says when an id is the thing looked for. Both grow at 3/4 load. Id and
 * value 0 mean "none" and cannot be stored. Zero-initialised is empty. Not for sharing between
 * threads.
 */
#pragma once

#include "base/vec.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct dw_map_slot {
	uint64_t key;
	uint32_t value; /* 0 = free slot */
};

struct dw_map {
	struct dw_map_slot *slots;
	size_t mask; /* slots - 1; meaningless while slots is NULL */
	size_t used;
};

/* The value stored under @key, 0 = none. */
uint32_t dw_map_get(const struct dw_map *m, uint64_t key);

/* Store @value (not 0) under @key, replacing what was there. 0 or -ENOMEM. */
int dw_map_put(struct dw_map *m, uint64_t key, uint32_t value);

/* Free the memory and leave the map empty. */
void dw_map_release(struct dw_map *m);

struct dw_idset_slot {
	uint32_t hash;
	uint32_t id; /* 0 = free slot */
};

struct dw_idset {
	struct dw_idset_slot *slots;
	size_t mask;
	size_t used;
};

/* Whether the thing stored as @id is the one that the caller, in @ctx, looks for. */
typedef bool dw_idset_equal_fn(const void *ctx, uint32_t id);

/* The stored id with @hash that @equal accepts, 0 = none. */
uint32_t dw_idset_find(const struct dw_idset *s, uint32_t hash, dw_idset_equal_fn *equal,
		       const void *ctx);

/* Store @id (not 0) under @hash without looking for an equal one. 0 or -ENOMEM. */
int dw_idset_add(struct dw_idset *s, uint32_t hash, uint32_t id);

/* Free the memory and leave the set empty. */
void dw_idset_release(struct dw_idset *s);

/* A well-mixed 64-bit hash of one number (the finalizer of splitmix64, Vigna 2015). [signal-safe]
 */
static inline uint64_t dw_hash_u64(uint64_t x)
{
	x ^= x >> 30;
	x *= 0xbf58476d1ce4e5b9u;
	x ^= x >> 27;
	x *= 0x94d049bb133111ebu;
	return x ^ x >> 31;
}

/* A 64-bit hash of @n bytes, seeded. The same on every machine, not for adversaries. */
uint64_t dw_hash_bytes(const void *p, size_t n, uint64_t seed);

/*
 * A set of pairs of numbers, each with an id of its own: 1, 2, 3 in the order in which they were
 * added, so that rows about pairs can stand in a vector beside. Equal are pairs, not their hashes.
 */
struct dw_pair {
	uint64_t a, b;
};

struct dw_pairs {
	DW_VEC(struct dw_pair) v; /* by id - 1 */
	struct dw_idset set;
};

/* The id of the pair, 0 = it is not there. */
uint32_t dw_pairs_find(const struct dw_pairs *p, uint64_t a, uint64_t b);

/* The id of the pair, added when new. 0 = no memory. */
uint32_t dw_pairs_add(struct dw_pairs *p, uint64_t a, uint64_t b);

/* Free the memory and leave the set empty. */
void dw_pairs_release(struct dw_pairs *p);
