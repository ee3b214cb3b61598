/*
 * Counts of what is on a path; see on-path.h.
 *
 * What is counted is told apart by hashes of 64 bits. Calls know their counters, so that an
 * activation costs one look-up, and its end none.
 */
#include "agent/core/on-path.h"

#include "agent/core/agent.h"
#include "agent/core/bytes.h"
#include "agent/core/memory.h"
#include "agent/core/syscall-x86-64.h"
#include "wire/call-tree.h"

enum { ROOM_MIN = 512 };

#define MODULE_UNKNOWN UINT32_MAX

/* What a key in the counters is one of. */
enum kind { KEY_FUNCTION, KEY_MODULE, KEY_MODULE_UNKNOWN, KEY_EDGE, KEY_SITE };

/* How often something is on the path. */
struct dw_path_counter {
	uint64_t key; /* a hash */
	uint32_t count;
	uint32_t module;	 /* of functions: its counter, 0 = not known */
	uint32_t counted_module; /* while the function is on the path */
	uint32_t unused;
};

/* @old, which has @room things of @size bytes, with room for twice as many. NULL = no memory. */
static void *larger(void *old, uint32_t *room, size_t size)
{
	uint32_t more = *room ? 2 * *room : ROOM_MIN;
	void *got = dw_agent_memory(more * size);

	if (!got)
		return NULL;
	if (old)
		memcpy(got, old, *room * size);
	dw_agent_memory_free(old, *room * size);
	*room = more;
	return got;
}

bool dw_path_reserve(struct dw_path_table *t, uint64_t (*hash)(const void *ctx, uint32_t i),
		     const void *ctx)
{
	struct dw_path_table old = *t;
	uint32_t *table;

	if (t->n < t->room / 2)
		return true;
	t->room = t->room ? 2 * t->room : ROOM_MIN;
	table = dw_agent_memory(t->room * sizeof(*table));
	if (!table) {
		*t = old;
		return false;
	}
	t->at = table;
	for (uint32_t i = 0; i < old.room; i++) {
		uint64_t h = old.at[i] ? hash(ctx, old.at[i]) : 0;

		while (old.at[i] && table[h & (t->room - 1)])
			h++;
		if (old.at[i])
			table[h & (t->room - 1)] = old.at[i];
	}
	dw_agent_memory_free(old.at, old.room * sizeof(*old.at));
	return true;
}

static uint64_t counter_hash(const void *ctx, uint32_t i)
{
	return ((const struct dw_path *)ctx)->counters[i].key;
}

/* The counter of @key, made if it is new. 0 = no room. */
static uint32_t counter_of(struct dw_path *p, uint64_t key)
{
	struct dw_path_table *t = &p->counter_of;
	struct dw_path_counter *counters;
	uint64_t h = key;

	if (!dw_path_reserve(t, counter_hash, p))
		return 0;
	while (t->at[h & (t->room - 1)] && p->counters[t->at[h & (t->room - 1)]].key != key)
		h++;
	if (t->at[h & (t->room - 1)])
		return t->at[h & (t->room - 1)];
	if (p->counters_n + 1 >= p->counters_room) {
		counters = larger(p->counters, &p->counters_room, sizeof(*counters));
		if (!counters)
			return 0;
		p->counters = counters;
	}
	p->counters[++p->counters_n].key = key;
	t->at[h & (t->room - 1)] = p->counters_n;
	t->n++;
	return p->counters_n;
}

static uint64_t hash_of(uint64_t caller, uint64_t key, uint32_t site)
{
	return dw_path_mix(dw_path_mix(caller, key), site);
}

static uint64_t call_hash(const void *ctx, uint32_t i)
{
	const struct dw_path_call *c = &((const struct dw_path *)ctx)->calls[i];

	return hash_of(c->caller, c->key, c->site);
}

/* Add @call, which is new. 0 = no room. */
static uint32_t add_call(struct dw_path *p, struct dw_path_call *call)
{
	struct dw_path_call *calls;

	call->function = counter_of(p, dw_path_mix(call->key, KEY_FUNCTION));
	call->edge = counter_of(p, dw_path_mix(call->caller, dw_path_mix(call->key, KEY_EDGE)));
	call->place = counter_of(p, dw_path_mix(call->caller, dw_path_mix(call->site, KEY_SITE)));
	if (!call->function || !call->edge || !call->place)
		return 0;
	if (p->calls_n + 1 >= p->calls_room) {
		calls = larger(p->calls, &p->calls_room, sizeof(*calls));
		if (!calls)
			return 0;
		p->calls = calls;
	}
	p->calls[++p->calls_n] = *call;
	return p->calls_n;
}

uint32_t dw_path_find(struct dw_path *p, uint64_t caller, uint64_t key, uint32_t site)
{
	struct dw_path_table *t = &p->call_of;
	uint64_t h = hash_of(caller, key, site);
	const struct dw_path_call *c;
	uint32_t i;

	if (!dw_path_reserve(t, call_hash, p))
		return 0;
	for (; (i = t->at[h & (t->room - 1)]); h++) {
		c = &p->calls[i];
		if (c->key == key && c->site == site && c->caller == caller)
			return i;
	}
	i = add_call(p, &(struct dw_path_call){.caller = caller, .key = key, .site = site});
	if (!i)
		return 0;
	t->at[h & (t->room - 1)] = i;
	t->n++;
	return i;
}

/* The counter of the module of @call, whose function is not on the path. What leads nowhere known
 * is a module of its own. 0 = no room. */
static uint32_t module_of(struct dw_path *p, const struct dw_path_call *call)
{
	uint32_t function = call->function, counter, module = MODULE_UNKNOWN;

	if (p->counters[function].module)
		return p->counters[function].module;
	if (dw_agent_part.module_of)
		module = dw_agent_part.module_of(call->key);
	counter =
		counter_of(p, module == MODULE_UNKNOWN ? dw_path_mix(call->key, KEY_MODULE_UNKNOWN)
						       : dw_path_mix(module, KEY_MODULE));
	if (module != MODULE_UNKNOWN)
		p->counters[function].module = counter;
	return counter;
}

uint32_t dw_path_enter(struct dw_path *p, uint32_t i)
{
	const struct dw_path_call *call = &p->calls[i];
	uint32_t outermost = 0, module;

	/* Once counted, a function's module stays what it is until nothing of it is on the path. */
	if (!p->counters[call->function].count) {
		module = module_of(p, call);
		p->counters[call->function].counted_module = module;
		outermost |= DWELL_OUTERMOST_FUNCTION;
	}
	module = p->counters[call->function].counted_module;
	p->counters[call->function].count++;
	if (module && !p->counters[module].count++)
		outermost |= DWELL_OUTERMOST_MODULE;
	if (!p->counters[call->edge].count++)
		outermost |= DWELL_OUTERMOST_EDGE;
	if (!p->counters[call->place].count++)
		outermost |= DWELL_OUTERMOST_SITE;
	return outermost;
}

void dw_path_leave(struct dw_path *p, uint32_t i)
{
	const struct dw_path_call *call = &p->calls[i];
	struct dw_path_counter *function = &p->counters[call->function];

	if (!function->count) /* there was no room to count it */
		return;
	function->count--;
	if (function->counted_module)
		p->counters[function->counted_module].count--;
	p->counters[call->edge].count--;
	p->counters[call->place].count--;
}

void dw_path_end(struct dw_path *p)
{
	dw_agent_memory_free(p->calls, p->calls_room * sizeof(*p->calls));
	dw_agent_memory_free(p->counters, p->counters_room * sizeof(*p->counters));
	dw_agent_memory_free(p->call_of.at, p->call_of.room * sizeof(uint32_t));
	dw_agent_memory_free(p->counter_of.at, p->counter_of.room * sizeof(uint32_t));
	*p = (struct dw_path){0};
}
