/*
 * The oracle; see collection.h.
 *
 * At a collection's start the runtime is asked for the generation of each object that we follow,
 * by another way than that by which it tells the bounds that we go by. At the end it walks its heap
 * while the program stands still; only then our objects are noted, so that both see the same. What
 * it has and we do not know was not announced; what we have and it does not should have died.
 * .NET 8 does not show its heap.
 */
#include "agent/clr/collection.h"

#include "agent/clr/objects.h"
#include "agent/clr/runtime.h"
#include "agent/clr/tables.h"

enum { SEEN = 1 };

/* Where the runtime sees the object at @address, -1 = in no generation. */
static int32_t generation_of(uint64_t address)
{
	int32_t said;

	if (dw_runtime_generation(address, &said) < 0 || said >= DWELL_CLR_GENERATIONS)
		return -1;
	return said;
}

static void compare(uint64_t address, uint64_t bytes, void *ctx)
{
	uint64_t *frozen_bytes = ctx;
	int32_t said = generation_of(address);

	*frozen_bytes += said < 0 ? bytes : 0;
	dw_tables_count(DWELL_CLR_LABELS_CHECKED, 1);
	dw_tables_count(DWELL_CLR_LABELS_DIFFERENT, said != dw_collection_generation(address));
}

void dw_oracle_collection(void)
{
	uint64_t frozen_bytes = 0;

	dw_objects_each(compare, &frozen_bytes);
	dw_tables_head()->facts[DWELL_CLR_FROZEN_BYTES] = frozen_bytes;
}

struct heap {
	uint64_t frozen_bytes;
	struct dw_spans known; /* our objects, value: SEEN */
	uint32_t room;
	bool has_begun;
};

static void measure(uint64_t address, uint64_t bytes, void *ctx)
{
	struct heap *h = ctx;

	(void)address;
	(void)bytes;
	h->room++;
}

static void note(uint64_t address, uint64_t bytes, void *ctx)
{
	struct heap *h = ctx;
	struct dw_span *s = dw_spans_add(&h->known, 1);

	h->frozen_bytes += generation_of(address) < 0 ? bytes : 0;
	if (!s)
		return;
	*s = (struct dw_span){address, bytes, 0};
}

static void begin(struct heap *h)
{
	enum { ROOM_MIN = 1 << 17 };

	h->has_begun = true;
	dw_objects_each(measure, h);
	if (!dw_spans_start(&h->known, h->room < ROOM_MIN ? ROOM_MIN : h->room))
		return;
	dw_objects_each(note, h);
	dw_spans_sort(&h->known);
}

static int32_t find(uint64_t object, void *ctx)
{
	struct heap *h = ctx;
	const struct dw_span *s;

	if (!h->has_begun)
		begin(h);
	dw_tables_count(DWELL_CLR_HEAP_OBJECTS, 1);
	s = dw_spans_find(&h->known, object);
	if (s && s->start == object && s->bytes == dw_object_bytes(object, *(uint64_t *)object))
		h->known.v[s - h->known.v].value = SEEN;
	else
		dw_tables_count(DWELL_CLR_HEAP_UNANNOUNCED, 1);
	return 1;
}

void dw_oracle_heap(void)
{
	struct heap h = {.room = 0};
	bool is_shown = dw_runtime_heap(find, &h) >= 0;

	if (!h.has_begun)
		begin(&h);
	dw_tables_head()->facts[DWELL_CLR_FROZEN_BYTES] = h.frozen_bytes;
	for (uint32_t i = 0; is_shown && i < h.known.n; i++)
		dw_tables_count(DWELL_CLR_HEAP_STALE, h.known.v[i].value != SEEN);
}
