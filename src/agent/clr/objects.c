/*
 * Objects; see objects.h.
 *
 * Objects lie in blocks of a page. A thread fills a block of its own; at a collection all go to the
 * bucket of their place in the heap (4 MB, the runtime's usual region), so that a collection of the
 * young looks at young objects only. Blocks that become free are used again; the stack of free ones
 * has a count in its head, so that a thread that was held up takes nothing wrong.
 */
#include "agent/clr/objects.h"

#include "agent/core/memory.h"

#include <stddef.h>

enum {
	BLOCK_BYTES = 4096,
	BLOCK_OBJECTS = BLOCK_BYTES / 16 - 1,
	BUCKET_SHIFT = 22,
	BUCKETS_FIRST = 1 << 12,
	UNIT = 8, /* bytes */
};
#define SPACE_BYTES ((uint64_t)256 << 30)
#define SPACE_MIN   ((uint64_t)64 << 20)

struct object {
	uint64_t address;
	uint32_t units;
	uint32_t group;
};

struct dw_clr_block {
	uint32_t next; /* number; 0 = none */
	uint32_t n;
	uint64_t unused;
	struct object objects[BLOCK_OBJECTS];
};

/* Objects whose address begins with @id. */
struct bucket {
	uint64_t id;
	uint32_t blocks; /* the first is being filled; 0 = none, the place itself may be unused */
	uint32_t is_used;
};

struct objects {
	uint64_t base; /* of blocks */
	uint32_t room; /* blocks */
	uint32_t used; /* blocks that were ever taken, block 0 is none; atomic */
	uint64_t free; /* count << 32 | number; atomic */
	struct bucket *buckets;
	uint64_t buckets_mask;
	uint64_t buckets_n;
	struct bucket *last; /* that was looked up */
};

static struct objects objects;

static struct dw_clr_block *block_at(uint32_t number)
{
	return (struct dw_clr_block *)(objects.base + (uint64_t)number * BLOCK_BYTES);
}

static uint32_t number_of(const struct dw_clr_block *block)
{
	return (uint32_t)(((uint64_t)block - objects.base) / BLOCK_BYTES);
}

bool dw_objects_start(void)
{
	uint64_t bytes = SPACE_BYTES;

	for (; bytes >= SPACE_MIN && !objects.base; bytes /= 2) {
		objects.base = (uint64_t)dw_agent_memory(bytes);
		objects.room = (uint32_t)(bytes / BLOCK_BYTES);
	}
	objects.used = 1;
	objects.buckets = dw_agent_memory(BUCKETS_FIRST * sizeof(*objects.buckets));
	objects.buckets_mask = BUCKETS_FIRST - 1;
	return objects.base && objects.buckets;
}

/* An empty block, NULL = no memory. [any-thread] */
static struct dw_clr_block *take_block(void)
{
	uint64_t head = __atomic_load_n(&objects.free, __ATOMIC_ACQUIRE), next;
	uint32_t number;

	while ((uint32_t)head) {
		next = (head & ~(uint64_t)UINT32_MAX) | block_at((uint32_t)head)->next;
		if (__atomic_compare_exchange_n(&objects.free, &head, next, false, __ATOMIC_ACQ_REL,
						__ATOMIC_ACQUIRE)) {
			*block_at((uint32_t)head) = (struct dw_clr_block){.next = 0};
			return block_at((uint32_t)head);
		}
	}
	number = __atomic_load_n(&objects.used, __ATOMIC_RELAXED);
	do {
		if (number >= objects.room)
			return NULL;
	} while (!__atomic_compare_exchange_n(&objects.used, &number, number + 1, false,
					      __ATOMIC_RELAXED, __ATOMIC_RELAXED));
	return block_at(number);
}

/* Give @block back. While threads stand still, or take: the count tells them. */
static void free_block(struct dw_clr_block *block)
{
	uint64_t head = __atomic_load_n(&objects.free, __ATOMIC_ACQUIRE), next;

	do {
		block->next = (uint32_t)head;
		next = ((head >> 32) + 1) << 32 | number_of(block);
	} while (!__atomic_compare_exchange_n(&objects.free, &head, next, false, __ATOMIC_ACQ_REL,
					      __ATOMIC_ACQUIRE));
}

bool dw_objects_add(struct dw_clr_self *t, uint64_t address, uint64_t bytes, uint32_t group)
{
	struct dw_clr_block *block = t->block, *fresh;

	if (!block || block->n == BLOCK_OBJECTS) {
		fresh = take_block();
		if (!fresh)
			return false;
		fresh->next = block ? number_of(block) : 0;
		block = t->block = fresh;
	}
	block->objects[block->n++] = (struct object){
		address, bytes / UNIT < UINT32_MAX ? (uint32_t)(bytes / UNIT) : UINT32_MAX, group};
	return true;
}

static struct bucket *find_bucket(uint64_t id)
{
	uint64_t at = id * 0x9e3779b97f4a7c15u >> 20;
	struct bucket *b;

	while ((b = &objects.buckets[at & objects.buckets_mask])->is_used && b->id != id)
		at++;
	return b;
}

/* Twice as many places for buckets. Full ones stay as they are: there is one left at least. */
static bool grow_buckets(void)
{
	struct bucket *old = objects.buckets;
	uint64_t n = objects.buckets_mask + 1;
	struct bucket *more = dw_agent_memory(2 * n * sizeof(*more));

	if (!more)
		return objects.buckets_n < n - 1;
	objects.buckets = more;
	objects.buckets_mask = 2 * n - 1;
	for (uint64_t i = 0; i < n; i++)
		if (old[i].is_used)
			*find_bucket(old[i].id) = old[i];
	return true;
}

/* The bucket of @address, NULL = no memory. */
static struct bucket *bucket_of(uint64_t address)
{
	uint64_t id = address >> BUCKET_SHIFT;
	struct bucket *b = objects.last;

	if (b && b->id == id)
		return b;
	b = find_bucket(id);
	if (!b->is_used) {
		if (objects.buckets_n >= objects.buckets_mask / 2 && !grow_buckets())
			return NULL;
		b = find_bucket(id);
		*b = (struct bucket){id, 0, 1};
		objects.buckets_n++;
	}
	return objects.last = b;
}

/* Put an object that lives where it belongs. Lost without memory: it then never dies. */
static void keep(const struct object *o)
{
	struct bucket *bucket = bucket_of(o->address);
	struct dw_clr_block *block, *fresh;

	if (!bucket)
		return;
	block = bucket->blocks ? block_at(bucket->blocks) : NULL;
	if (!block || block->n == BLOCK_OBJECTS) {
		fresh = take_block();
		if (!fresh)
			return;
		fresh->next = bucket->blocks;
		bucket->blocks = number_of(fresh);
		block = fresh;
	}
	block->objects[block->n++] = *o;
}

static void sweep_object(const struct dw_sweep *sweep, struct object o)
{
	const struct dw_span *generation = dw_spans_find(sweep->generations, o.address);
	const struct dw_span *survivor;

	if (generation && generation->value < 8 && sweep->is_condemned[generation->value]) {
		survivor = dw_spans_find(sweep->survivors, o.address);
		if (!survivor) {
			sweep->died(o.group, (uint32_t)generation->value, (uint64_t)o.units * UNIT);
			return;
		}
		o.address += survivor->value - survivor->start;
	}
	keep(&o);
}

/* Sweep the blocks from @number on, which nobody else has, and free them. */
static void sweep_blocks(const struct dw_sweep *sweep, uint32_t number)
{
	while (number) {
		struct dw_clr_block *block = block_at(number);
		uint32_t next = block->next;

		for (uint32_t i = 0; i < block->n; i++)
			sweep_object(sweep, block->objects[i]);
		free_block(block);
		number = next;
	}
}

/* Whether anything in bucket @id may have gone or moved. */
static bool is_condemned(const struct dw_sweep *sweep, uint64_t id)
{
	uint64_t start = id << BUCKET_SHIFT, end = start + ((uint64_t)1 << BUCKET_SHIFT);
	const struct dw_spans *all = sweep->generations;
	uint32_t low = 0, high = all->n;

	while (low < high) { /* the first that ends behind the bucket's start */
		uint32_t middle = low + (high - low) / 2;

		if (all->v[middle].start + all->v[middle].bytes > start)
			high = middle;
		else
			low = middle + 1;
	}
	for (; low < all->n && all->v[low].start < end; low++)
		if (all->v[low].value < 8 && sweep->is_condemned[all->v[low].value])
			return true;
	return false;
}

/* Put the list @from before the list @to. Its head. */
static uint32_t chain(uint32_t from, uint32_t to)
{
	uint32_t last = from;

	if (!from)
		return to;
	while (block_at(last)->next)
		last = block_at(last)->next;
	block_at(last)->next = to;
	return from;
}

void dw_objects_sweep(const struct dw_sweep *sweep)
{
	uint32_t all = 0;

	objects.last = NULL;
	for (uint64_t i = 0; i <= objects.buckets_mask; i++) {
		struct bucket *b = &objects.buckets[i];

		if (!b->is_used || !b->blocks || !is_condemned(sweep, b->id))
			continue;
		all = chain(b->blocks, all);
		b->blocks = 0;
	}
	for (struct dw_clr_self *t = dw_clr_threads(); t; t = t->next) {
		all = chain(t->block ? number_of(t->block) : 0, all);
		t->block = NULL;
	}
	sweep_blocks(sweep, all);
}

static void each_in(uint32_t number, void (*fn)(uint64_t, uint64_t, void *), void *ctx)
{
	const struct dw_clr_block *block;

	for (; number; number = block->next) {
		block = block_at(number);
		for (uint32_t i = 0; i < block->n; i++)
			fn(block->objects[i].address, (uint64_t)block->objects[i].units * UNIT,
			   ctx);
	}
}

void dw_objects_each(void (*fn)(uint64_t address, uint64_t bytes, void *ctx), void *ctx)
{
	for (uint64_t i = 0; i <= objects.buckets_mask; i++)
		if (objects.buckets[i].is_used)
			each_in(objects.buckets[i].blocks, fn, ctx);
	for (const struct dw_clr_self *t = dw_clr_threads(); t; t = t->next)
		if (t->block)
			each_in(number_of(t->block), fn, ctx);
}
