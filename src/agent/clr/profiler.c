/*
 * The profiler of objects and of code: what its callbacks do, and what an allocation does.
 *
 * Where we do not belong the runtime is told to go on without a profiler. Nothing is done after
 * Shutdown.
 */
#include "agent/clr/callbacks.h"
#include "agent/clr/code.h"
#include "agent/clr/collection.h"
#include "agent/clr/metadata.h"
#include "agent/clr/names.h"
#include "agent/clr/object-samples.h"
#include "agent/clr/objects.h"
#include "agent/clr/overflow-table.h"
#include "agent/clr/runtime.h"
#include "agent/clr/start.h"
#include "agent/clr/tables.h"
#include "agent/clr/thread.h"
#include "agent/clr/tree.h"
#include "agent/clr/walk.h"
#include "agent/core/agent.h"
#include "agent/core/bytes.h"
#include "agent/core/deferred-start.h"
#include "agent/core/system-calls.h"

enum { INDUCED = 1 };

struct profiler {
	struct dw_clr_wishes wishes;
	bool is_off;	    /* the program has ended as far as the runtime is concerned */
	bool has_let_go;    /* atomic */
	uint32_t low, high; /* events that were asked for */
};

static struct profiler profiler;

/* Nobody reads what is recorded: ask for no more events. How objects are allocated the runtime has
 * chosen at its start, so some of their cost stays. */
static void let_go(void)
{
	if (!__atomic_exchange_n(&profiler.has_let_go, true, __ATOMIC_RELAXED))
		dw_runtime_events(profiler.low & ~(uint32_t)(DWELL_COM_ALLOCATED | DWELL_COM_GC |
							     DWELL_COM_SUSPENDS),
				  profiler.high);
}

/* Whether nothing is recorded any more. */
static bool is_off(void)
{
	return profiler.is_off || dw_agent_is_over();
}

static uint32_t type_of(struct dw_clr_self *t, uint64_t class)
{
	if (t->last_class != class || !t->last_type) {
		t->last_type = dw_intern_type(class);
		t->last_class = class;
	}
	return t->last_type;
}

/* The group of an object of @kind and @bytes allocated by @t in a callback with frame @base, not
 * counted there. 0 = no room. */
static DWELL_HOT uint32_t group_of(struct dw_clr_self *t, struct dw_clr_kind kind, uint64_t bytes,
				   uint64_t base)
{
	uint32_t node = t->root, row;
	bool has_stack;

	if (profiler.wishes.has_stacks && dw_walk(t, base))
		node = dw_clr_tree_node(t);
	/* What the runtime makes before any managed code runs has a stack without frames. */
	has_stack = node != t->root;
	if (!has_stack && profiler.wishes.has_stacks)
		dw_tables_count(DWELL_CLR_LOST_STACKS, 1);
	row = node ? dw_clr_tree_group(t, node, kind) : 0;
	if (!row && has_stack)
		row = dw_overflow_count(t, kind, bytes);
	if (row)
		return row;
	dw_tables_count(DWELL_CLR_LOST_STACKS, has_stack);
	return dw_clr_tree_group(t, t->truncated, kind);
}

static DWELL_HOT void count(struct dw_clr_self *t, uint32_t row, uint64_t object, uint64_t bytes)
{
	struct dw_clr_group *group = dw_table_row(DWELL_CLR_GROUPS, row);

	group->allocated.objects++;
	group->allocated.bytes += bytes;
	if (profiler.wishes.has_lifetime && !dw_objects_add(t, object, bytes, row))
		dw_tables_count(DWELL_CLR_UNTRACKED, 1);
}

static DWELL_HOT int32_t allocated(void *self, uint64_t object, uint64_t class)
{
	struct dw_clr_kind kind = {0};
	struct dw_clr_self *t;
	uint64_t bytes;
	uint32_t row;

	(void)self;
	if (dw_agent_is_over()) {
		let_go();
		return DWELL_HR_OK;
	}
	t = profiler.is_off ? NULL : dw_clr_self();
	if (!t) {
		dw_tables_count(DWELL_CLR_LOST_OBJECTS, 1);
		return DWELL_HR_OK;
	}
	bytes = dw_object_bytes(object, class);
	dw_context_announced(t, object, bytes);
	t->shown->allocated.objects++;
	t->shown->allocated.bytes += bytes;
	kind.type = type_of(t, class);
	row = kind.type ? group_of(t, kind, bytes, (uint64_t)__builtin_frame_address(0)) : 0;
	if (row)
		count(t, row, object, bytes);
	else
		dw_tables_count(DWELL_CLR_LOST_OBJECTS, 1);
	return DWELL_HR_OK;
}

static int32_t allocated_by_class(void *self)
{
	(void)self;
	dw_collection_counted();
	return DWELL_HR_OK;
}

static int32_t roots(void *self)
{
	(void)self;
	dw_collection_shows();
	return DWELL_HR_OK;
}

static int32_t object_references(void *self)
{
	(void)self;
	dw_collection_shows();
	return DWELL_HR_FAIL; /* no walk of the whole heap */
}

static int32_t suspend_started(void *self, uint32_t reason)
{
	(void)self;
	if (dw_agent_is_over())
		return DWELL_HR_OK;
	if (reason == DWELL_SUSPEND_FOR_GC && !profiler.is_off)
		dw_trigger_suspends((uint64_t)__builtin_frame_address(0));
	if (dw_suspends_to_collect(reason))
		dw_collection_suspends();
	return DWELL_HR_OK;
}

static int32_t resume_finished(void *self)
{
	(void)self;
	if (!dw_agent_is_over())
		dw_collection_resumed();
	return DWELL_HR_OK;
}

static void sampled(const struct dw_sample *sample, uint64_t base)
{
	uint64_t units = sample->bytes / 8;
	struct dw_clr_kind kind = {0, units < UINT32_MAX ? (uint32_t)units : UINT32_MAX};
	struct dw_clr_self *t = dw_clr_self();
	uint32_t row = 0;

	if (t)
		kind.type = type_of(t, sample->class);
	if (kind.type)
		row = group_of(t, kind, sample->bytes, base);
	if (!row) {
		dw_tables_count(DWELL_CLR_LOST_OBJECTS, 1);
		return;
	}
	t->shown->allocated.objects++;
	t->shown->allocated.bytes += sample->bytes;
	count(t, row, 0, sample->bytes);
}

/* What EventPipeEventDelivered is given behind its sixth argument: on the stack. */
struct event_rest {
	uint64_t bytes; /* 32 bits of them */
	const uint8_t *data;
	const void *others[5];
};

/* EventPipeEventDelivered. */
static int32_t event(void *self, uint64_t provider, uint32_t number, uint32_t version,
		     uint32_t head_bytes, const uint8_t *head, struct event_rest rest)
{
	uint64_t base = (uint64_t)__builtin_frame_address(0);
	struct dw_sample sample;

	(void)self;
	(void)provider;
	(void)version;
	(void)head_bytes;
	(void)head;
	if (is_off())
		return DWELL_HR_OK;
	if (number == DWELL_EVENT_GC_TRIGGERED)
		dw_trigger_said(base);
	else if (profiler.wishes.sample_bytes &&
		 dw_sample_read(number, rest.data, (uint32_t)rest.bytes, &sample))
		sampled(&sample, base);
	return DWELL_HR_OK;
}

static int32_t gc_started(void *self, int32_t n, const int32_t *condemned, int32_t reason)
{
	(void)self;
	if (dw_agent_is_over())
		return DWELL_HR_OK;
	dw_collection_begins(n, condemned, reason == INDUCED);
	if (profiler.wishes.has_oracle)
		dw_oracle_collection();
	return DWELL_HR_OK;
}

static int32_t gc_finished(void *self)
{
	(void)self;
	if (!dw_agent_is_over())
		dw_collection_ends();
	return DWELL_HR_OK;
}

static int32_t moved(void *self, uint32_t n, const uint64_t *from, const uint64_t *to,
		     const uint64_t *bytes)
{
	(void)self;
	if (!dw_agent_is_over())
		dw_collection_survivors(n, from, to, bytes);
	return DWELL_HR_OK;
}

static int32_t survived(void *self, uint32_t n, const uint64_t *from, const uint64_t *bytes)
{
	(void)self;
	if (!dw_agent_is_over())
		dw_collection_survivors(n, from, NULL, bytes);
	return DWELL_HR_OK;
}

static int32_t module_loaded(void *self)
{
	(void)self;
	if (profiler.wishes.has_lifetime)
		dw_trigger_module_loaded();
	return DWELL_HR_OK;
}

static int32_t module_unloads(void *self, uint64_t module)
{
	(void)self;
	(void)module;
	if (profiler.wishes.is_code) {
		dw_code_forget();
		return DWELL_HR_OK;
	}
	dw_walk_forget();
	for (struct dw_clr_self *t = dw_clr_threads(); t; t = t->next)
		__atomic_store_n(&t->last_class, 0, __ATOMIC_RELAXED);
	return DWELL_HR_OK;
}

static int32_t dynamic_unloads(void *self, uint64_t function)
{
	(void)self;
	if (profiler.wishes.is_code)
		dw_code_forget_dynamic(function);
	else
		dw_walk_forget_function(function);
	return DWELL_HR_OK;
}

static int32_t compiled(void *self, uint64_t function, int32_t result, int32_t is_safe)
{
	(void)self;
	(void)is_safe;
	if (result < 0 || is_off())
		return DWELL_HR_OK;
	if (profiler.wishes.is_code)
		dw_code_compiled(function);
	else if (profiler.wishes.has_stacks)
		dw_intern_compiled(function);
	return DWELL_HR_OK;
}

static int32_t dynamic_compiled(void *self, uint64_t function, int32_t result, int32_t is_safe)
{
	(void)self;
	(void)is_safe;
	if (result >= 0 && !is_off() && profiler.wishes.is_code)
		dw_code_dynamic(function);
	return DWELL_HR_OK;
}

static int32_t search_finished(void *self, uint64_t function, uint32_t result)
{
	(void)self;
	if (!result && !is_off() && profiler.wishes.is_code)
		dw_code_searched(function);
	return DWELL_HR_OK;
}

static void note_runtime(void)
{
	uint64_t *facts = dw_tables_head()->facts;
	uint16_t version[3] = {0, 0, 0};

	dw_runtime_version(version);
	facts[DWELL_CLR_SAMPLE_BYTES] = profiler.wishes.sample_bytes;
	facts[DWELL_CLR_VERSION_MAJOR] = version[0];
	facts[DWELL_CLR_VERSION_MINOR] = version[1];
	facts[DWELL_CLR_VERSION_BUILD] = version[2];
	facts[DWELL_CLR_HAS_LIFETIME] = profiler.wishes.has_lifetime;
	facts[DWELL_CLR_HAS_STACKS] = profiler.wishes.has_stacks;
}

/* Ask the runtime for what is wanted. */
static bool order_events(void)
{
	uint32_t low = DWELL_COM_MODULE_LOADS;
	uint32_t high = DWELL_COM_HIGH_DYNAMIC_UNLOADS;

	if (profiler.wishes.is_code)
		return dw_runtime_events(DWELL_COM_JIT | DWELL_COM_CACHE_SEARCHES |
						 DWELL_COM_MODULE_LOADS,
					 DWELL_COM_HIGH_DYNAMIC_UNLOADS) >= 0;
	if (profiler.wishes.sample_bytes)
		high |= DWELL_COM_HIGH_EVENTS;
	else
		low |= DWELL_COM_ALLOCATED | DWELL_COM_ENABLE_ALLOCATED;
	if (profiler.wishes.has_stacks)
		low |= DWELL_COM_ENABLE_SNAPSHOT | DWELL_COM_JIT;
	if (profiler.wishes.has_lifetime) {
		low |= DWELL_COM_GC | DWELL_COM_SUSPENDS;
		high |= DWELL_COM_HIGH_EVENTS;
	}
	profiler.low = low;
	profiler.high = high;
	return dw_runtime_events(low, high) >= 0;
}

static bool start_sampling(void)
{
	uint64_t interval = profiler.wishes.sample_bytes;
	uint64_t major = dw_tables_head()->facts[DWELL_CLR_VERSION_MAJOR];

	return !interval || dw_sample_start(interval, (uint16_t)major);
}

static void start_memory(void)
{
	if (profiler.wishes.has_lifetime)
		profiler.wishes.has_lifetime = dw_objects_start() && dw_collections_start();
	dw_clr_threads_start();
	dw_context_start();
	dw_walk_start(profiler.wishes.check, profiler.wishes.has_natives);
	dw_trigger_start(profiler.wishes.has_stacks);
}

static int32_t initialize(void *self, void *unknown)
{
	uint64_t begin_ns = dw_sys_now_ns();

	(void)self;
	if (!dw_runtime_start(unknown) || !dw_clr_start(&profiler.wishes))
		return DWELL_HR_CANCEL;
	dw_names_start();
	if (!profiler.wishes.is_code)
		start_memory();
	note_runtime();
	if (!order_events() || !start_sampling()) {
		dw_agent_off(DWELL_OFF_MISMATCH);
		return DWELL_HR_CANCEL;
	}
	dw_deferred_started(begin_ns);
	return DWELL_HR_OK;
}

static int32_t shutdown(void *self)
{
	(void)self;
	if (profiler.wishes.collects_at_end && dw_last_collection())
		dw_tables_count(DWELL_CLR_COLLECTED_AT_END, 1);
	if (profiler.wishes.has_oracle)
		dw_oracle_heap();
	profiler.is_off = true;
	dw_deferred_end();
	return DWELL_HR_OK;
}

void *dw_clr_callbacks[DWELL_CB_SLOTS] = {
	[DWELL_CB_INITIALIZE] = initialize,
	[DWELL_CB_SHUTDOWN] = shutdown,
	[DWELL_CB_MODULE_LOADED] = module_loaded,
	[DWELL_CB_MODULE_UNLOAD_STARTED] = module_unloads,
	[DWELL_CB_JIT_FINISHED] = compiled,
	[DWELL_CB_SEARCH_FINISHED] = search_finished,
	[DWELL_CB_SUSPEND_STARTED] = suspend_started,
	[DWELL_CB_RESUME_FINISHED] = resume_finished,
	[DWELL_CB_ALLOCATED] = allocated,
	[DWELL_CB_ALLOCATED_BY_CLASS] = allocated_by_class,
	[DWELL_CB_OBJECT_REFERENCES] = object_references,
	[DWELL_CB_GC_STARTED] = gc_started,
	[DWELL_CB_GC_FINISHED] = gc_finished,
	[DWELL_CB_ROOTS] = roots,
	[DWELL_CB_MOVED] = moved,
	[DWELL_CB_SURVIVED] = survived,
	[DWELL_CB_DYNAMIC_FINISHED] = dynamic_compiled,
	[DWELL_CB_DYNAMIC_UNLOADED] = dynamic_unloads,
	[DWELL_CB_EVENT] = event,
};
