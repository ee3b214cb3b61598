/*
 * A map from 64-bit keys, none 0, to two numbers. Found without a lock by any thread while one puts
 * inside dw_agent_enter(). Nothing that is found is ever freed.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct dw_id {
	uint64_t key; /* 0 = empty, 1 = was removed */
	uint32_t value;
	uint32_t extra; /* may be changed by those who put */
};

struct dw_id_room {
	uint64_t mask; /* in entries */
	uint64_t used; /* those removed included */
	struct dw_id entries[];
};

struct dw_ids {
	struct dw_id_room *room; /* atomic, NULL = empty */
};

/* Where to begin to look for @key. */
static inline uint64_t dw_ids_hash(uint64_t key)
{
	return key * 0x9e3779b97f4a7c15u >> 32;
}

/* Where @key stands, NULL = nowhere. [any-thread] */
static inline struct dw_id *dw_ids_find(const struct dw_ids *ids, uint64_t key)
{
	struct dw_id_room *room = __atomic_load_n(&ids->room, __ATOMIC_ACQUIRE);
	uint64_t at = dw_ids_hash(key), found;

	if (!room)
		return NULL;
	for (;; at++) {
		struct dw_id *entry = &room->entries[at & room->mask];

		found = __atomic_load_n(&entry->key, __ATOMIC_ACQUIRE);
		if (found == key)
			return entry;
		if (!found)
			return NULL;
	}
}

/* Put @key, which may be there, with its numbers. NULL = no memory. Inside dw_agent_enter(). */
struct dw_id *dw_ids_put(struct dw_ids *ids, uint64_t key, uint32_t value, uint32_t extra);

/* Remove @key, if it is there. Inside dw_agent_enter(). */
void dw_ids_drop(struct dw_ids *ids, uint64_t key);

/* Remove what @goes says so of, NULL = all. Inside dw_agent_enter(). */
void dw_ids_remove(struct dw_ids *ids, bool (*goes)(const struct dw_id *id, uint32_t word),
		   uint32_t word);
