/*
 * Counting calls without a clock; see counts.h.
 *
 * Of modules that only count, there is one table each, in the region, made when its first call
 * comes. The trampolines read its address in a page that is wiped on fork, so a child, however it
 * was made, comes here first; one that shares memory with its parent counts in the parent's table,
 * if that is there. Without room in the region the counts go to memory of nobody, so that the
 * trampolines do not come here for ever.
 *
 * Of what is measured no more, numbers and their keys are the process's, and stay: a copy of the
 * region's list, which a fork's child begins its own with. An import may lead to a function that
 * has probes and counts itself. Where the loader looks it up at its first call only, that is not
 * known before; until then the list says so. Lines are the thread's own: one writer each.
 */
#include "agent/clones/counts.h"

#include "agent/clones/clones.h"
#include "agent/clones/signal-context.h"
#include "agent/core/agent.h"
#include "agent/core/memory.h"

static uint64_t **counts_word(const struct dw_area *a)
{
	return (uint64_t **)(a->area + a->header->wiped_at) + DWELL_WIPED_COUNTS;
}

/* Make the table of @a: of the region, else private. NULL = no memory at all. */
static uint64_t *make_table(const struct dw_area *a)
{
	struct dw_region_module *m = &dw_agent_region()->modules[a->region_module];
	size_t bytes = a->header->functions.n * sizeof(uint64_t);
	uint64_t at;
	uint64_t *table = dw_agent_chunk(DWELL_REGION_CHUNK_COUNTS, a->region_module, bytes, &at);

	if (table) {
		m->counts_n = a->header->functions.n;
		__atomic_store_n(&m->counts, at, __ATOMIC_RELEASE);
		return table;
	}
	dw_agent_drop(DWELL_DROP_COUNTS);
	return dw_agent_memory(bytes);
}

void dw_count_slow(uint64_t area, uint32_t function)
{
	struct dw_area *a = dw_area_at(area);
	uint64_t **word = a ? counts_word(a) : NULL;

	dw_agent_after_fork();
	if (!a || !dw_agent_is_self() || !dw_agent_enter()) {
		dw_agent_drop(DWELL_DROP_COUNTS);
		return;
	}
	if (!a->counts)
		a->counts = make_table(a);
	if (a->counts)
		__atomic_store_n(word, a->counts, __ATOMIC_RELEASE);
	dw_agent_leave();
	if (a->counts && function < a->header->functions.n)
		__atomic_fetch_add(&a->counts[function], 1, __ATOMIC_RELAXED);
	else
		dw_agent_drop(DWELL_DROP_COUNTS);
}

void dw_count_forked(void)
{
	for (uint32_t i = 0; i < dw_probe.area_n; i++)
		if (!dw_probe.areas[i].is_closed && dw_probe.areas[i].counts)
			__atomic_store_n(counts_word(&dw_probe.areas[i]), dw_probe.areas[i].counts,
					 __ATOMIC_RELEASE);
}

enum {
	KEYS_BYTES = DWELL_REGION_COUNTED * sizeof(uint32_t),
	SPARE = 2,	      /* so many times the counters that are needed */
	LINES_MIN = 8,	      /* of counters */
	LOOK_TICKS = 1 << 26, /* some hundredths of a second */
	POINTER_SHIFT = 25,   /* as the trampoline's */
	MORE_LINES = 256,     /* of further pointers */
	NOWHERE = 1,	      /* in the place of a place */
};

_Static_assert(DWELL_POINTER_SETS == 1 << (32 - POINTER_SHIFT),
	       "what the trampoline's shift leaves");

struct counted {
	bool is_on;
	uint32_t n;	     /* numbers, atomic */
	uint32_t open_n;     /* keys that are not known to count; an upper bound */
	uint32_t *keys;	     /* by number, as the region's */
	uint32_t *published; /* the region's */
	uint64_t looked_at;  /* TSC */
	bool is_looking;     /* a thread is at it, atomic */
	void *wasted;	     /* lines that nobody reads, of threads without memory, atomic */
};

static struct counted counted;

void dw_counted_start(bool is_on)
{
	counted.is_on = is_on;
}

bool dw_counted_is_on(void)
{
	return counted.is_on;
}

/* Indices of @a that may have a number. */
static uint32_t indices_n(const struct dw_area *a)
{
	return a->header->functions.n + a->header->imports.n;
}

/* Make room for the first number. */
static bool begin(void)
{
	uint64_t at;

	if (!counted.keys)
		counted.keys = dw_agent_memory(KEYS_BYTES);
	if (counted.keys && !counted.published)
		counted.published = dw_agent_chunk(DWELL_REGION_CHUNK_COUNTED, 0, KEYS_BYTES, &at);
	return counted.published;
}

static void set_key(uint32_t n, uint32_t key)
{
	counted.keys[n] = key;
	__atomic_store_n(&counted.published[n], key, __ATOMIC_RELEASE);
}

/* Whether the loader has looked up the import of @key: what is not bound leads back to its own
 * module. */
static bool is_open(uint32_t key)
{
	return dw_address_of_key(key) && dw_module_of_key(key) == UINT32_MAX;
}

int32_t dw_counted_find(const struct dw_area *a, uint32_t index)
{
	return a->places && index < indices_n(a)
		       ? __atomic_load_n(&a->places[index], __ATOMIC_RELAXED)
		       : 0;
}

/* Let the trampolines of @a know its places, if it has any. */
static void show_places(const struct dw_area *a)
{
	uint64_t *wiped = (uint64_t *)(a->area + a->header->wiped_at);

	if (a->places && !a->is_final)
		__atomic_store_n(&wiped[DWELL_WIPED_PLACES], (uint64_t)a->places, __ATOMIC_RELEASE);
}

static int32_t set_place(struct dw_area *a, uint32_t index, int32_t place)
{
	__atomic_store_n(&a->places[index], place, __ATOMIC_RELEASE);
	return place;
}

int32_t dw_counted_place(struct dw_area *a, uint32_t index)
{
	uint32_t key = dw_agent_region()->modules[a->region_module].first_id + index;

	if (!a->places) {
		a->places = dw_agent_memory(indices_n(a) * sizeof *a->places);
		show_places(a);
	}
	if (!a->places || index >= indices_n(a) || !begin())
		return 0;
	if (a->places[index])
		return a->places[index];
	if (counted.n == DWELL_REGION_COUNTED) {
		dw_agent_drop(DWELL_DROP_COUNTED);
		return 0;
	}
	if (index >= a->header->functions.n) {
		if (dw_is_probed(dw_address_of_key(key)))
			return set_place(a, index, NOWHERE);
		if (is_open(key)) {
			key |= DWELL_COUNTED_OPEN;
			counted.open_n++;
		}
	}
	set_key(counted.n, key);
	__atomic_store_n(&counted.n, counted.n + 1, __ATOMIC_RELEASE);
	return set_place(a, index, dw_counter(counted.n - 1));
}

/* Mark the @n lines from @first on, which trampolines will then count in, as counters of @t. */
static void mark(const struct dw_thread *t, uint32_t first, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		struct dw_tree_counted *c = dw_arena_line(t->line->arena, first + i);

		c->thread = dw_arena_index(t->line->arena, t->line);
		c->first = i * DWELL_COUNTERS;
		__atomic_store_n(&c->mark, DWELL_MARK_COUNTED, __ATOMIC_RELEASE);
	}
}

/* Let the trampolines of @t count in the @n lines from @at on. */
static void set_counters(struct dw_thread *t, const void *at, uint32_t n)
{
	/* A handler may come between the two: places are what the new lines have, too. */
	t->line->counted = (uint64_t)at - (uint32_t)INT32_MIN;
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	t->line->counted_end = INT32_MIN + (int32_t)(n * DWELL_LINE_BYTES);
}

/* There is no room for counters of @t: let it count where nobody reads, in all @n lines that it
 * could need, since its trampolines would come here for ever. False: there is no memory for that
 * either.
 */
static bool waste(struct dw_thread *t, uint32_t n)
{
	void *wasted = __atomic_load_n(&counted.wasted, __ATOMIC_ACQUIRE), *none = NULL;
	size_t bytes = (size_t)n * DWELL_LINE_BYTES;

	if (!wasted) {
		wasted = dw_agent_memory(bytes);
		if (wasted && !__atomic_compare_exchange_n(&counted.wasted, &none, wasted, false,
							   __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) {
			dw_agent_memory_free(wasted, bytes);
			wasted = none;
		}
	}
	if (wasted)
		set_counters(t, wasted, n);
	return wasted;
}

/* Let @t have counters up to number @n at least. What earlier ones have counted stays there. */
static bool make_counters(struct dw_thread *t, uint32_t n)
{
	uint32_t all = __atomic_load_n(&counted.n, __ATOMIC_ACQUIRE);
	uint32_t lines = SPARE * (all > n ? all : n + 1) / DWELL_COUNTERS + 1;
	uint32_t max = (DWELL_REGION_COUNTED + DWELL_COUNTERS - 1) / DWELL_COUNTERS, first;
	struct dw_lines block = {0, 0};

	if (t->has_no_counters)
		return false;
	lines = lines < LINES_MIN ? LINES_MIN : lines > max ? max : lines;
	first = dw_arena_take(&block, lines, DWELL_LINE_OTHER);
	if (!first) {
		t->has_no_counters = true;
		dw_agent_drop(DWELL_DROP_COUNTED);
		return waste(t, max);
	}
	mark(t, first, lines);
	set_counters(t, dw_arena_line(t->line->arena, first), lines);
	return true;
}

static bool add_now(struct dw_thread *t, int32_t place)
{
	if (place >= t->line->counted_end)
		return false;
	++*(uint64_t *)(t->line->counted + (uint32_t)place);
	return true;
}

static void add(struct dw_thread *t, int32_t place)
{
	if (add_now(t, place))
		return;
	if (make_counters(t, dw_counter_number(place)))
		add_now(t, place);
	else
		dw_agent_drop(DWELL_DROP_COUNTS);
}

bool dw_counted_interrupted(int32_t place)
{
	struct dw_thread *t = place < 0 ? dw_thread_known() : NULL;

	return t && add_now(t, place);
}

void dw_counted_call(struct dw_thread *t, const struct dw_area *area, int32_t place)
{
	if (place >= 0)
		place = dw_counted_find(area, (uint32_t)place);
	if (place < 0)
		add(t, place);
}

void dw_counted_tail(struct dw_thread *t, const struct dw_area *area, uint64_t rsp, uint32_t index)
{
	uint64_t to = *(const uint64_t *)(rsp + sizeof(to));
	int32_t place;

	if (!counted.is_on || !dw_trampoline_stood(area, DWELL_TRAMPOLINE_RETURN, to))
		return;
	place = dw_counted_find(area, index);
	if (!place && dw_agent_is_self() && dw_agent_enter()) {
		place = dw_counted_place(dw_area_at(area->area), index);
		dw_agent_leave();
	}
	if (place < 0)
		add(t, place);
}

/* The place of @address in @line, or a free one there, which it gets. NULL = neither. */
static uint64_t *find_pointer(struct dw_tree_pointers *line, uint64_t address)
{
	for (uint32_t i = 0; i < DWELL_POINTERS; i++) {
		if (!line->callees[i].address) {
			line->callees[i].calls = dw_is_probed(address) ? DWELL_POINTER_PROBED : 0;
			__atomic_store_n(&line->callees[i].address, address, __ATOMIC_RELEASE);
		}
		if (line->callees[i].address == address)
			return &line->callees[i].calls;
	}
	return NULL;
}

/* @n new lines of pointers of @t: the first one's index, 0 = no room. */
static uint32_t make_pointers(struct dw_thread *t, uint32_t n)
{
	struct dw_lines block = {0, 0};
	uint32_t first = dw_arena_take(&block, n, DWELL_LINE_OTHER);

	for (uint32_t i = 0; i < n && first; i++) {
		struct dw_tree_pointers *line = dw_arena_line(t->line->arena, first + i);

		line->thread = dw_arena_index(t->line->arena, t->line);
		__atomic_store_n(&line->mark, DWELL_MARK_POINTER, __ATOMIC_RELEASE);
	}
	return first;
}

/* Where the callee at @address is counted that found no place in its set. */
static uint64_t *find_more(struct dw_thread *t, uint64_t address)
{
	uint64_t *found = NULL;

	if (!t->more_pointers)
		t->more_pointers = make_pointers(t, MORE_LINES);
	for (uint32_t i = 0; i < MORE_LINES && t->more_pointers && !found; i++)
		found = find_pointer(dw_arena_line(t->line->arena, t->more_pointers + i), address);
	return found;
}

void dw_counted_add_pointer(struct dw_thread *t, uint64_t address)
{
	uint32_t set = (uint32_t)address * DWELL_KEY_FACTOR >> POINTER_SHIFT;
	struct dw_tree_pointers *lines;
	uint64_t *calls;

	if (!t->line->pointers) {
		uint32_t first = make_pointers(t, DWELL_POINTER_SETS);

		if (first)
			t->line->pointers = (uint64_t)dw_arena_line(t->line->arena, first);
	}
	lines = (struct dw_tree_pointers *)t->line->pointers;
	calls = lines ? find_pointer(&lines[set], address) : NULL;
	if (!calls && lines)
		calls = find_more(t, address);
	if (calls)
		++*calls;
	else
		dw_agent_drop(DWELL_DROP_COUNTS);
}

/* Look at what was open. */
static void look(void)
{
	uint32_t open = 0, n = __atomic_load_n(&counted.n, __ATOMIC_ACQUIRE);

	for (uint32_t i = 0; i < n; i++) {
		uint32_t key = counted.keys[i] & ~DWELL_COUNTED_OPEN;

		if (!(counted.keys[i] & DWELL_COUNTED_OPEN))
			continue;
		if (is_open(key))
			open++;
		else
			set_key(i, dw_is_probed(dw_address_of_key(key)) ? 0 : key);
	}
	counted.open_n = open;
}

void dw_counted_look(uint64_t now)
{
	if (!counted.open_n || now - counted.looked_at < LOOK_TICKS ||
	    __atomic_exchange_n(&counted.is_looking, true, __ATOMIC_ACQUIRE))
		return;
	if (dw_agent_is_self() && dw_agent_enter()) {
		counted.looked_at = now;
		look();
		dw_agent_leave();
	}
	__atomic_store_n(&counted.is_looking, false, __ATOMIC_RELEASE);
}

void dw_counted_end(void)
{
	if (counted.open_n)
		look();
}

void dw_counted_forked(void)
{
	counted.is_looking = false;
	for (uint32_t i = 0; i < counted.n; i++)
		counted.published[i] = counted.keys[i];
	for (uint32_t i = 0; i < dw_probe.area_n; i++)
		if (!dw_probe.areas[i].is_closed)
			show_places(&dw_probe.areas[i]);
}

void dw_counted_forget(struct dw_area *a)
{
	dw_agent_memory_free(a->places, indices_n(a) * sizeof *a->places);
	a->places = NULL;
}
