/*
 * Maps; see ids.h. Open addressing; a table that grows is copied and the old one stays for those
 * who look in it, which takes as much again at most.
 */
#include "agent/clr/ids.h"

#include "agent/core/memory.h"

enum { FIRST = 1024, REMOVED = 1 };

static struct dw_id *put(struct dw_id_room *room, uint64_t key, uint32_t value, uint32_t extra)
{
	uint64_t at = dw_ids_hash(key);
	struct dw_id *entry;

	while ((entry = &room->entries[at & room->mask])->key && entry->key != key)
		at++;
	room->used += !entry->key;
	entry->value = value;
	entry->extra = extra;
	__atomic_store_n(&entry->key, key, __ATOMIC_RELEASE);
	return entry;
}

/* Make room for one more. */
static bool grow(struct dw_ids *ids)
{
	struct dw_id_room *old = ids->room, *room;
	uint64_t n = old ? (old->mask + 1) * 2 : FIRST;

	if (old && old->used < old->mask / 2)
		return true;
	room = dw_agent_memory(sizeof(*room) + n * sizeof(room->entries[0]));
	if (!room)
		return false;
	room->mask = n - 1;
	for (uint64_t i = 0; old && i <= old->mask; i++)
		if (old->entries[i].key > REMOVED)
			put(room, old->entries[i].key, old->entries[i].value,
			    old->entries[i].extra);
	__atomic_store_n(&ids->room, room, __ATOMIC_RELEASE);
	return true;
}

struct dw_id *dw_ids_put(struct dw_ids *ids, uint64_t key, uint32_t value, uint32_t extra)
{
	if (key <= REMOVED || !grow(ids))
		return NULL;
	return put(ids->room, key, value, extra);
}

void dw_ids_remove(struct dw_ids *ids, bool (*goes)(const struct dw_id *id, uint32_t word),
		   uint32_t word)
{
	struct dw_id_room *room = ids->room;

	for (uint64_t i = 0; room && i <= room->mask; i++) {
		struct dw_id *id = &room->entries[i];

		if (id->key > REMOVED && (!goes || goes(id, word)))
			__atomic_store_n(&id->key, REMOVED, __ATOMIC_RELEASE);
	}
}

void dw_ids_drop(struct dw_ids *ids, uint64_t key)
{
	struct dw_id *id = dw_ids_find(ids, key);

	if (id)
		__atomic_store_n(&id->key, REMOVED, __ATOMIC_RELEASE);
}
