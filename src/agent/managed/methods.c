/* Methods with probes; see methods.h. */
#include "agent/managed/methods.h"

#include "agent/calls/events.h"
#include "agent/clr/ids.h"
#include "agent/clr/il/rewrite.h"
#include "agent/clr/metadata.h"
#include "agent/clr/names.h"
#include "agent/clr/runtime.h"
#include "agent/clr/tables.h"
#include "agent/core/agent.h"
#include "agent/core/bytes.h"
#include "agent/core/memory.h"
#include "agent/managed/blocking.h"
#include "agent/managed/probes.h"
#include "agent/managed/scope.h"
#include "agent/managed/selection.h"

enum {
	METHOD_TOKEN = 0x06000000,
	METHODS_MAX = 0xffffff,
	SIGNATURE_TOKEN = 0x11000000,
	SIGNATURES_MAX = 0xffffff,
	LIST_MIN = 1024,
	BLOCKING_MAX = 64,
	/* Of modules in scope: whether all of it is. */
	PART = 0,
	WHOLE = 1,
};

/* What probes are called by, as ECMA-335 II.23.2.3 has it: void(native unsigned int), or what comes
 * to the same in machine code, void(native int) and void(ref byte). */
static const struct {
	uint32_t n;
	uint8_t bytes[5];
} signatures[] = {{4, {0x00, 0x01, 0x01, 0x19}},
		  {4, {0x00, 0x01, 0x01, 0x18}},
		  {5, {0x00, 0x01, 0x01, 0x10, 0x05}}};

struct methods {
	bool all;
	struct dw_ids modules; /* in scope -> token of the signature, WHOLE or PART */
};

static struct methods methods;

/* What is asked for: pairs of a module and a token. */
struct list {
	uint64_t *modules;
	uint32_t *tokens;
	uint32_t n, room;
};

void dw_methods_start(bool all)
{
	methods.all = all;
}

static bool grow(struct list *l)
{
	uint32_t room = l->room ? 2 * l->room : LIST_MIN;
	uint64_t *modules = dw_agent_memory_more(l->modules, l->room * sizeof(*l->modules),
						 room * sizeof(*l->modules));
	uint32_t *tokens;

	if (!modules)
		return false;
	l->modules = modules;
	tokens = dw_agent_memory_more(l->tokens, l->room * sizeof(*l->tokens),
				      room * sizeof(*l->tokens));
	if (!tokens) {
		/* The first one stays as large as it was said to be, for release(). */
		modules = dw_agent_memory_more(l->modules, room * sizeof(*l->modules),
					       l->room * sizeof(*l->modules));
		l->modules = modules ? modules : l->modules;
		return false;
	}
	l->tokens = tokens;
	l->room = room;
	return true;
}

static void release(struct list *l)
{
	dw_agent_memory_free(l->modules, l->room * sizeof(*l->modules));
	dw_agent_memory_free(l->tokens, l->room * sizeof(*l->tokens));
}

static bool add(struct list *l, uint64_t module, uint32_t token)
{
	if (l->n == l->room && !grow(l))
		return false;
	l->modules[l->n] = module;
	l->tokens[l->n++] = token;
	return true;
}

/* Whether the method @token of @module, which has a body, is one that has no probe by rule. */
static bool is_small(uint64_t module, uint32_t token, const struct dw_com_method *m)
{
	struct dw_il_body body;
	const uint8_t *bytes;
	uint32_t n;

	if (methods.all)
		return false;
	return m->flags & DWELL_COM_METHOD_INLINED ||
	       (dw_runtime_body(module, token, &bytes, &n) >= 0 &&
		dw_il_open(bytes, n, &body) == DWELL_IL_OK && dw_il_is_small(&body));
}

/* Whether @module can be unloaded: the runtime compiles methods of such a one only once. */
static bool is_collectible(uint64_t module)
{
	uint16_t path[DWELL_NAME_WIDE];
	uint32_t n, flags = 0;

	return dw_runtime_module(module, path, DWELL_NAME_WIDE, &n, &flags) >= 0 &&
	       flags & DWELL_COM_MODULE_COLLECTIBLE;
}

/* Whether the user wants the method @token of @module, by its name; @is_always: unless he leaves it
 * out. */
static bool is_chosen(uint64_t module, uint32_t token, bool is_always)
{
	struct dw_name name;

	if (!dw_method_selection_needs_names())
		return true;
	dw_name_method(module, token, &name);
	return dw_method_selection_has(&name, is_always);
}

/* List the methods of @module that get probes. */
static void list_methods(struct list *l, uint64_t module, void *metadata)
{
	bool is_fixed = is_collectible(module);
	struct dw_com_method m;

	for (uint32_t i = 1; i < METHODS_MAX; i++) {
		uint32_t token = METHOD_TOKEN | i;

		m = (struct dw_com_method){0};
		if (dw_metadata_method(metadata, token, NULL, 0, &m) < 0)
			break;
		if (!m.rva || m.flags & DWELL_COM_METHOD_NOT_IL || !is_chosen(module, token, false))
			continue;
		if (is_fixed || m.flags & DWELL_COM_METHOD_ASYNC)
			dw_tables_count(DWELL_CLR_METHODS_REFUSED, 1);
		else if (is_small(module, token, &m))
			dw_tables_count(DWELL_CLR_METHODS_SMALL, 1);
		else if (!add(l, module, token))
			dw_tables_count(DWELL_CLR_METHODS_LOST, 1);
	}
}

/* List the methods in which others wait, of the runtime's core. Who chooses a program's methods by
 * name wants to know what these wait for. */
static void list_blocking(struct list *l, uint64_t module, void *metadata)
{
	uint32_t tokens[BLOCKING_MAX];
	uint32_t n = dw_blocking_methods(module, metadata, tokens, BLOCKING_MAX);

	for (uint32_t i = 0; i < n; i++)
		if (is_chosen(module, tokens[i], true))
			(void)add(l, module, tokens[i]);
}

/* Let what threads do while they are stopped have a name, which it has for a part of @core. */
static void name_collections(uint64_t core)
{
	uint32_t key = dw_calls_take_keys(1);

	if (dw_intern_probed_as(core, "[garbage collection]", key))
		dw_collections_start(key);
}

/* Remember @module, whose probes are called by the signature @token. */
static bool remember(uint64_t module, uint32_t token, uint32_t how)
{
	bool is_kept;

	if (!dw_agent_enter())
		return false;
	is_kept = dw_ids_put(&methods.modules, module, token, how);
	dw_agent_leave();
	return is_kept;
}

/* Whether @bytes, @n of them, are such a signature. */
static bool is_for_probes(const uint8_t *bytes, uint32_t n)
{
	for (size_t i = 0; i < sizeof(signatures) / sizeof(*signatures); i++)
		if (n == signatures[i].n && !memcmp(bytes, signatures[i].bytes, n))
			return true;
	return false;
}

/* A signature that probes in @module can be called by: one that it has, since to add one costs a
 * copy of all its metadata, or a new one. */
static bool find_signature(uint64_t module, void *metadata, uint32_t *ret)
{
	const uint8_t *bytes;
	uint32_t n;

	for (uint32_t i = 1; i < SIGNATURES_MAX; i++) {
		bytes = NULL;
		*ret = SIGNATURE_TOKEN | i;
		if (dw_metadata_signature(metadata, *ret, &bytes, &n) < 0 || !bytes)
			break;
		if (is_for_probes(bytes, n))
			return true;
	}
	return dw_runtime_signature(module, signatures->bytes, signatures->n, ret) >= 0;
}

void dw_methods_loaded(uint64_t module)
{
	struct list l = {0};
	struct dw_name path;
	uint32_t token = 0, is_dynamic = 0;
	bool is_core;
	void *metadata;

	dw_name_module(module, &path, &is_dynamic);
	is_core = dw_is_core_assembly(path.text, path.bytes);
	if (is_dynamic || !(is_core || dw_managed_scope_wants(path.text, path.bytes)))
		return;
	metadata = dw_metadata_open(module);
	if (!metadata)
		return;
	if (is_core) {
		name_collections(module);
		list_blocking(&l, module, metadata);
	} else {
		list_methods(&l, module, metadata);
	}
	/* Without any its precompiled code may stay. */
	if (l.n && (!find_signature(module, metadata, &token) ||
		    !remember(module, token, is_core ? PART : WHOLE) ||
		    dw_runtime_recompile(l.n, l.modules, l.tokens) < 0))
		dw_tables_count(DWELL_CLR_METHODS_LOST, l.n);
	dw_metadata_close(metadata);
	release(&l);
}

void dw_methods_unloaded(uint64_t module)
{
	if (!dw_agent_enter())
		return;
	dw_ids_drop(&methods.modules, module);
	dw_interned_forget();
	dw_agent_leave();
}

bool dw_methods_has(uint64_t module)
{
	const struct dw_id *id = dw_ids_find(&methods.modules, module);

	return id && id->extra == WHOLE;
}

bool dw_methods_has_function(uint64_t function)
{
	uint64_t module = 0;
	uint32_t token;

	return dw_runtime_function_token(function, &module, &token) >= 0 && module &&
	       dw_methods_has(module);
}

/* A method that is rewritten. */
struct work {
	struct dw_il_body old;
	struct dw_il_scan scan;
	struct dw_il_output new;
	uint32_t *marks;
};

static bool make_room(struct work *w)
{
	w->new.room = w->scan.body_bytes;
	w->new.map_room = w->scan.map_rows;
	w->new.body = dw_agent_memory(w->new.room);
	w->new.map = dw_agent_memory(w->new.map_room * sizeof(*w->new.map));
	return w->new.body && w->new.map;
}

static void release_work(struct work *w)
{
	dw_agent_memory_free(w->marks, dw_il_marks(&w->old) * sizeof(*w->marks));
	if (w->new.body)
		dw_agent_memory_free(w->new.body, w->new.room);
	if (w->new.map)
		dw_agent_memory_free(w->new.map, w->new.map_room * sizeof(*w->new.map));
}

/* Let several of the slowest calls of the method be kept, whose key is @key, if the user wants it.
 */
static void keep_slowest(uint64_t module, uint32_t token, uint32_t key)
{
	struct dw_name name;

	if (!dw_method_selection_has_slowest())
		return;
	dw_name_method(module, token, &name);
	if (dw_method_selection_is_slowest(&name))
		dw_method_probes_keep_slowest(key);
}

/* Rewrite the method of @w, whose marks have memory, and give it to the runtime. What it is counted
 * as where that cannot be, DWELL_CLR_FACTS = it could. */
static enum dw_clr_fact give_body(struct work *w, uint64_t module, uint32_t token, void *control)
{
	struct dw_il_probes probes = dw_method_probes();
	const struct dw_id *id = dw_ids_find(&methods.modules, module);

	if (!id || dw_il_scan(&w->old, w->marks, &w->scan) != DWELL_IL_OK)
		return DWELL_CLR_METHODS_REFUSED;
	probes.signature = id->value;
	probes.key = dw_calls_take_keys(1);
	if (!make_room(w))
		return DWELL_CLR_METHODS_LOST;
	if (dw_il_rewrite(&w->old, w->marks, &w->scan, &probes, &w->new) != DWELL_IL_OK)
		return DWELL_CLR_METHODS_REFUSED;
	/* Named before it runs: a collector that meets the key knows whose it is. */
	if (!dw_intern_probed(module, token, probes.key))
		return DWELL_CLR_METHODS_LOST;
	keep_slowest(module, token, probes.key);
	if (dw_runtime_set_body(control, w->new.body, w->scan.body_bytes) < 0)
		return DWELL_CLR_METHODS_LOST;
	/* Without it exceptions tell wrong lines, and nothing else is wrong. */
	(void)dw_runtime_set_map(control, w->new.map, w->scan.map_rows);
	return DWELL_CLR_FACTS;
}

void dw_methods_compile(uint64_t module, uint32_t token, void *control)
{
	enum dw_clr_fact what = DWELL_CLR_METHODS_REFUSED;
	struct work w = {0};
	const uint8_t *bytes;
	uint32_t n;

	if (dw_runtime_body(module, token, &bytes, &n) >= 0 &&
	    dw_il_open(bytes, n, &w.old) == DWELL_IL_OK) {
		w.marks = dw_agent_memory(dw_il_marks(&w.old) * sizeof(*w.marks));
		what = w.marks ? give_body(&w, module, token, control) : DWELL_CLR_METHODS_LOST;
	}
	if (w.marks)
		release_work(&w);
	if (what != DWELL_CLR_FACTS)
		dw_tables_count(what, 1);
}
