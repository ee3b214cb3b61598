/*
 * Objects; see objects.h.
 *
 * A thread fills a block of its own; at a collection all go to the bucket of their place in the
 * heap (4 MB, the runtime's usual region), so that a collection of the young looks at young objects
 * only. While one runs, objects in buckets that it condemns have in the word of their address the
 * place in the bucket, by which they are in order, and below it the address that they will have, 0
 * = they go.
 */
#include "agent/clr/objects.h"

#include "agent/clr/blocks.h"
#include "agent/core/agent.h"
#include "agent/core/memory.h"
#include "agent/core/system-calls.h"

#include <stddef.h>

enum {
	UNIT_SHIFT = 3,
	BUCKET_SHIFT = DWELL_PLACE_BITS + UNIT_SHIFT,
	BUCKETS_FIRST = 1 << 12,
};
#define UNIT	     ((uint64_t)1 << UNIT_SHIFT)
#define BUCKET_BYTES ((uint64_t)1 << BUCKET_SHIFT)
#define AFTER_MASK   (((uint64_t)1 << DWELL_PLACE_SHIFT) - 1)

/* Objects whose address begins with @id. */
struct bucket {
	uint64_t id;
	uint32_t blocks; /* the first is being filled; 0 = none */
	uint32_t is_used;
	/* While a collection runs: those that it may end, in order. */
	uint32_t first; /* 0 = none */
	uint32_t n;
	uint32_t list; /* the block with their numbers, if there are several */
	uint32_t unused;
};

struct objects {
	struct bucket *buckets;
	uint64_t buckets_mask;
	uint64_t buckets_n;
	struct bucket *last; /* that was looked up */
	uint32_t condemned;  /* blocks of those that a collection may end */
	bool has_stopped;
};

static struct objects objects;

bool dw_objects_start(void)
{
	objects.buckets = dw_agent_memory(BUCKETS_FIRST * sizeof(*objects.buckets));
	objects.buckets_mask = BUCKETS_FIRST - 1;
	return objects.buckets && dw_blocks_start() && dw_order_start();
}

DWELL_HOT bool dw_objects_add(struct dw_clr_self *t, uint64_t address, uint64_t bytes,
			      uint32_t group)
{
	struct dw_clr_block *block = t->block, *fresh;
	uint64_t bucket = address >> BUCKET_SHIFT, units = bytes / UNIT;

	if (!block || block->n == DWELL_BLOCK_OBJECTS) {
		fresh = objects.has_stopped ? NULL : dw_block_take();
		if (!fresh)
			return false;
		fresh->next = block ? dw_block_number(block) : 0;
		fresh->bucket = bucket;
		block = t->block = fresh;
	} else if (block->bucket != bucket) {
		block->bucket = DWELL_MIXED;
	}
	block->objects[block->n++] = (struct dw_object){
		address, units < UINT32_MAX ? (uint32_t)units : UINT32_MAX, group};
	return true;
}

void dw_objects_stop(void)
{
	objects.has_stopped = true;
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
		*b = (struct bucket){.id = id, .is_used = 1};
		objects.buckets_n++;
	}
	return objects.last = b;
}

/* Put an object that lives where it belongs. Lost without memory: it then never dies. */
static void keep(const struct dw_object *o)
{
	struct bucket *bucket = bucket_of(o->place);
	struct dw_clr_block *block, *fresh;

	if (!bucket)
		return;
	block = bucket->blocks ? dw_block_at(bucket->blocks) : NULL;
	if (!block || block->n == DWELL_BLOCK_OBJECTS) {
		fresh = dw_block_take();
		if (!fresh)
			return;
		fresh->next = bucket->blocks;
		bucket->blocks = dw_block_number(fresh);
		block = fresh;
	}
	block->objects[block->n++] = *o;
}

/* Whether anything in bucket @id may have gone or moved. */
static bool is_condemned(const struct dw_sweep *sweep, uint64_t id)
{
	uint64_t start = id << BUCKET_SHIFT, end = start + BUCKET_BYTES;
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

/* Give the blocks of @t, newest first, to buckets, so that what was allocated last comes first. */
static void hand_over(struct dw_clr_self *t)
{
	uint32_t number = 0, next;
	struct dw_clr_block *block, *above;
	struct bucket *bucket;

	for (block = t->block; block; block = above) { /* turn them round */
		above = block->next ? dw_block_at(block->next) : NULL;
		block->next = number;
		number = dw_block_number(block);
	}
	t->block = NULL;
	for (; number; number = next) {
		block = dw_block_at(number);
		next = block->next;
		bucket = block->n == DWELL_BLOCK_OBJECTS && block->bucket != DWELL_MIXED
				 ? bucket_of(block->objects[0].place)
				 : NULL;
		if (bucket) {
			block->next = bucket->blocks;
			bucket->blocks = number;
			continue;
		}
		for (uint32_t i = 0; i < block->n; i++)
			keep(&block->objects[i]);
		dw_block_free(block);
	}
}

/* The numbers of the @b->n blocks that a collection may end. */
static const uint32_t *list_of(const struct bucket *b)
{
	return b->list ? (const uint32_t *)dw_block_at(b->list) : &b->first;
}

/* Take the blocks of @b, newest first, as the last of @room numbers. How many, @room + 1 = more. */
static uint32_t take_blocks(struct bucket *b, uint32_t *ret, uint32_t room)
{
	uint32_t n = 0;

	for (uint32_t number = b->blocks; number; number = dw_block_at(number)->next) {
		struct dw_clr_block *block = dw_block_at(number);

		if (n == room)
			return room + 1;
		ret[room - ++n] = number;
		block->bucket = b->id;
		for (uint32_t i = 0; i < block->n; i++)
			block->objects[i].place = (block->objects[i].place >> UNIT_SHIFT)
						  << DWELL_PLACE_SHIFT;
	}
	b->blocks = 0;
	return n;
}

/* Put the objects of @b in order. False: no memory. */
static bool put_in_order(struct bucket *b)
{
	struct dw_clr_block *list = dw_block_take();
	uint32_t *numbers = (uint32_t *)list, n;

	if (!list)
		return false;
	n = take_blocks(b, numbers, DWELL_ORDER_BLOCKS);
	if (n > DWELL_ORDER_BLOCKS)
		return false;
	for (uint32_t i = 0; i < n; i++)
		numbers[i] = numbers[DWELL_ORDER_BLOCKS - n + i];
	b->n = n = dw_order_sort(numbers, n);
	b->first = numbers[0];
	for (uint32_t i = 0; i < n; i++)
		dw_block_at(numbers[i])->next = i + 1 < n ? numbers[i + 1] : objects.condemned;
	objects.condemned = b->first;
	if (n > 1)
		b->list = dw_block_number(list);
	else
		dw_block_free(list);
	return true;
}

bool dw_objects_begin(const struct dw_sweep *sweep)
{
	objects.last = NULL;
	for (struct dw_clr_self *t = dw_clr_threads(); t; t = t->next)
		hand_over(t);
	for (uint64_t i = 0; i <= objects.buckets_mask; i++) {
		struct bucket *b = &objects.buckets[i];

		if (b->blocks && is_condemned(sweep, b->id) && !put_in_order(b))
			return false;
	}
	return true;
}

/* What of a piece lies in one bucket. */
struct part {
	uint64_t start, end; /* places in the bucket */
	uint64_t to;	     /* address of the start then */
};

/* The objects in @part of @b live. Where the next part of the bucket may begin. */
static struct dw_position mark(const struct bucket *b, struct dw_position from,
			       const struct part *part)
{
	const uint32_t *list = list_of(b);
	struct dw_position at = dw_order_find(list, b->n, from, part->start);

	for (; at.block < b->n; at = (struct dw_position){at.block + 1, 0}) {
		struct dw_clr_block *block = dw_block_at(list[at.block]);

		for (; at.slot < block->n; at.slot++) {
			uint64_t *place = &block->objects[at.slot].place;
			uint64_t offset = *place >> DWELL_PLACE_SHIFT;

			if (offset >= part->end)
				return at;
			*place = offset << DWELL_PLACE_SHIFT |
				 ((part->to >> UNIT_SHIFT) + offset - part->start);
		}
	}
	return at;
}

void dw_objects_survive(uint32_t n, const uint64_t *from, const uint64_t *to, const uint64_t *bytes)
{
	const struct bucket *b = NULL;
	struct dw_position at = {0, 0};
	uint64_t last = 0;

	for (uint32_t i = 0; i < n; i++) {
		uint64_t start = from[i], end = start + bytes[i], stop;

		for (; start < end; start = stop) {
			stop = (start | (BUCKET_BYTES - 1)) + 1;
			stop = stop < end ? stop : end;
			if (!b || b->id != start >> BUCKET_SHIFT || start < last) {
				b = find_bucket(start >> BUCKET_SHIFT);
				at = (struct dw_position){0, 0};
			}
			last = start;
			if (b->n)
				at = mark(b, at,
					  &(struct part){start % BUCKET_BYTES >> UNIT_SHIFT,
							 ((stop - 1) % BUCKET_BYTES >> UNIT_SHIFT) +
								 1,
							 to[i] + (start - from[i])});
		}
	}
}

/* The address that @o, condemned in @bucket, had before the collection. */
static uint64_t address_before(uint64_t bucket, const struct dw_object *o)
{
	return bucket << BUCKET_SHIFT | o->place >> DWELL_PLACE_SHIFT << UNIT_SHIFT;
}

static void sweep_object(const struct dw_sweep *sweep, uint64_t bucket, struct dw_object o)
{
	uint64_t after = o.place & AFTER_MASK, before = address_before(bucket, &o);
	const struct dw_span *generation;

	o.place = after ? after << UNIT_SHIFT : before;
	if (!after) {
		generation = dw_spans_find(sweep->generations, before);
		if (generation && generation->value < 8 && sweep->is_condemned[generation->value]) {
			sweep->died(o.group, (uint32_t)generation->value, (uint64_t)o.units * UNIT);
			return;
		}
	}
	keep(&o);
}

/* Forget what is in order. */
static void end_orders(void)
{
	for (uint64_t i = 0; i <= objects.buckets_mask; i++) {
		struct bucket *b = &objects.buckets[i];

		if (b->list)
			dw_block_free(dw_block_at(b->list));
		b->first = b->n = b->list = 0;
	}
}

void dw_objects_end(const struct dw_sweep *sweep)
{
	uint32_t number = objects.condemned, next;

	end_orders();
	for (; number; number = next) {
		struct dw_clr_block *block = dw_block_at(number);

		next = block->next;
		for (uint32_t i = 0; i < block->n; i++)
			sweep_object(sweep, block->bucket, block->objects[i]);
		dw_block_free(block);
	}
	objects.condemned = 0;
}

static void each_in(uint32_t number, void (*fn)(uint64_t, uint64_t, void *), void *ctx)
{
	const struct dw_clr_block *block;

	for (; number; number = block->next) {
		block = dw_block_at(number);
		for (uint32_t i = 0; i < block->n; i++)
			fn(block->objects[i].place, (uint64_t)block->objects[i].units * UNIT, ctx);
	}
}

/* Those that a collection may end, where they were. */
static void each_condemned(void (*fn)(uint64_t, uint64_t, void *), void *ctx)
{
	const struct dw_clr_block *block;

	for (uint32_t number = objects.condemned; number; number = block->next) {
		block = dw_block_at(number);
		for (uint32_t i = 0; i < block->n; i++)
			fn(address_before(block->bucket, &block->objects[i]),
			   (uint64_t)block->objects[i].units * UNIT, ctx);
	}
}

void dw_objects_each(void (*fn)(uint64_t address, uint64_t bytes, void *ctx), void *ctx)
{
	for (uint64_t i = 0; i <= objects.buckets_mask; i++)
		each_in(objects.buckets[i].blocks, fn, ctx);
	for (const struct dw_clr_self *t = dw_clr_threads(); t; t = t->next)
		if (t->block)
			each_in(dw_block_number(t->block), fn, ctx);
	each_condemned(fn, ctx);
}

/*
 * Spans come in runs that are sorted, one for each part of the heap: runs are
 * merged until there is one.
 */

enum { ROOM_MIN = 1 << 16 };

bool dw_spans_start(struct dw_spans *s, uint32_t room)
{
	for (s->room = room; s->room >= ROOM_MIN; s->room /= 2) {
		s->v = dw_agent_memory((uint64_t)s->room * 2 * sizeof(*s->v));
		if (!s->v)
			continue;
		s->spare = s->v + s->room;
		return true;
	}
	return false;
}

struct dw_span *dw_spans_add(struct dw_spans *s, uint32_t n)
{
	uint32_t at = __atomic_load_n(&s->n, __ATOMIC_RELAXED);

	do {
		if (at > s->room || n > s->room - at) {
			__atomic_store_n(&s->n, UINT32_MAX, __ATOMIC_RELAXED);
			return NULL;
		}
	} while (!__atomic_compare_exchange_n(&s->n, &at, at + n, false, __ATOMIC_RELAXED,
					      __ATOMIC_RELAXED));
	return s->v + at;
}

/* Where the sorted run from @from on ends. */
static uint32_t run_end(const struct dw_span *v, uint32_t from, uint32_t n)
{
	uint32_t i = from + 1;

	while (i < n && v[i].start >= v[i - 1].start)
		i++;
	return i < n ? i : n;
}

/* Merge [a, b) and [b, c) of @v to the same place of @to. */
static void merge(const struct dw_span *v, struct dw_span *to, uint32_t a, uint32_t b, uint32_t c)
{
	uint32_t left = a, right = b;

	for (uint32_t i = a; i < c; i++) {
		bool is_left = right == c || (left < b && v[left].start <= v[right].start);

		to[i] = is_left ? v[left++] : v[right++];
	}
}

void dw_spans_sort(struct dw_spans *s)
{
	struct dw_span *swap;
	uint32_t runs, middle, end;

	s->hint = 0;
	if (s->n > s->room || !s->n || run_end(s->v, 0, s->n) == s->n)
		return;
	do {
		runs = 0;
		for (uint32_t at = 0; at < s->n; at = end) {
			middle = run_end(s->v, at, s->n);
			end = middle < s->n ? run_end(s->v, middle, s->n) : middle;
			merge(s->v, s->spare, at, middle, end);
			runs++;
		}
		swap = s->v;
		s->v = s->spare;
		s->spare = swap;
	} while (runs > 1);
}

const struct dw_span *dw_spans_find(struct dw_spans *s, uint64_t address)
{
	const struct dw_span *hint = s->v + s->hint;
	uint32_t low = 0, high = s->n;

	if (s->hint < s->n && address - hint->start < hint->bytes)
		return hint;
	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (s->v[middle].start <= address)
			low = middle + 1;
		else
			high = middle;
	}
	if (!low || address - s->v[low - 1].start >= s->v[low - 1].bytes)
		return NULL;
	s->hint = low - 1;
	return s->v + s->hint;
}
