/*
 * Metadata; see metadata.h.
 *
 * Names are made before the lock is taken: the runtime is not asked under it. Two threads may name
 * the same at the same time, then the second finds the first one's row. What was forgotten and
 * comes again finds its row by its name. Frames are the same for all code that a method was
 * compiled to: their key is the method and the offset in its IL.
 */
#include "agent/clr/metadata.h"

#include "agent/clr/ids.h"
#include "agent/clr/names.h"
#include "agent/clr/runtime.h"
#include "agent/clr/tables.h"
#include "agent/core/agent.h"
#include "agent/core/bytes.h"
#include "agent/core/memory.h"

enum {
	IL_MAP = 512,	/* entries of one method that are looked at */
	VERSIONS = 16,	/* of one method's code */
	CODE_PARTS = 4, /* of one version */
	SAVED_BYTES = 1 << 20,
};
#define IL_NONE UINT32_MAX
/* The token of a method that no assembly has. */
#define NO_METHOD 0x06ffffffu

/* Where the machine code of one version of a method comes from; entries follow. */
struct il_version {
	struct il_version *next; /* of the same method */
	uint64_t start, bytes;
	uint32_t n;
	uint32_t unused;
	struct il_entry {
		uint32_t start, il;
	} entries[];
};

struct interned {
	struct dw_ids types, functions, modules, frames, names;
	struct dw_ids compiled;	  /* method -> index in maps + 1 */
	struct il_version **maps; /* by index, atomic heads */
	uint32_t maps_n;
	char *saved; /* memory for versions, what is left of it */
	uint64_t saved_left;
};

static struct interned interned;

static uint64_t hash_name(const struct dw_name *name, uint64_t more)
{
	uint64_t hash = more * 0x9e3779b97f4a7c15u + name->bytes;

	for (uint32_t i = 0; i < name->bytes; i++) {
		hash = (hash ^ (unsigned char)name->text[i]) * 0x9e3779b97f4a7c15u;
		hash ^= hash >> 29;
	}
	return hash;
}

uint32_t dw_intern_module(uint64_t module)
{
	const struct dw_id *id = module ? dw_ids_find(&interned.modules, module) : NULL;
	struct dw_clr_module *row;
	struct dw_name name;
	uint32_t is_dynamic, at = 0;

	if (id || !module)
		return id ? id->value : 0;
	dw_name_module(module, &name, &is_dynamic);
	if (!dw_agent_enter())
		return 0;
	id = dw_ids_find(&interned.modules, module);
	if (!id)
		id = dw_ids_find(&interned.names, hash_name(&name, 1));
	if (id)
		at = id->value;
	else
		at = dw_table_take_inside(DWELL_CLR_MODULES, 1);
	if (at && !id) {
		row = dw_table_row(DWELL_CLR_MODULES, at);
		row->is_dynamic = is_dynamic;
		row->path.bytes = name.bytes;
		__atomic_store_n(&row->path.at, dw_tables_add_text(name.text, name.bytes).at,
				 __ATOMIC_RELEASE);
		dw_ids_put(&interned.names, hash_name(&name, 1), at, 0);
	}
	if (at)
		dw_ids_put(&interned.modules, module, at, 0);
	dw_agent_leave();
	return at;
}

static uint32_t add_type(const struct dw_name *name, uint32_t module)
{
	struct dw_clr_text text = dw_tables_add_text(name->text, name->bytes);
	uint32_t at = text.at ? dw_table_take_inside(DWELL_CLR_TYPES, 1) : 0;
	struct dw_clr_type *row = dw_table_row(DWELL_CLR_TYPES, at);

	if (!at)
		return 0;
	row->module = module;
	row->name.bytes = text.bytes;
	__atomic_store_n(&row->name.at, text.at, __ATOMIC_RELEASE);
	return at;
}

uint32_t dw_intern_type(uint64_t class)
{
	const struct dw_id *id = dw_ids_find(&interned.types, class);
	struct dw_name name;
	uint64_t module = 0, key;
	uint32_t module_row, at;

	if (id)
		return id->value;
	dw_name_type(class, &name, &module);
	module_row = dw_intern_module(module);
	key = hash_name(&name, 0x100000000u + module_row);
	if (!dw_agent_enter())
		return 0;
	id = dw_ids_find(&interned.names, key);
	at = id ? id->value : add_type(&name, module_row);
	if (at) {
		dw_ids_put(&interned.names, key, at, 0);
		dw_ids_put(&interned.types, class, at, 0);
	}
	dw_agent_leave();
	return at;
}

static uint32_t add_function(const struct dw_name *name, uint32_t module, uint32_t token)
{
	struct dw_clr_text text = dw_tables_add_text(name->text, name->bytes);
	uint32_t at = text.at ? dw_table_take_inside(DWELL_CLR_FUNCTIONS, 1) : 0;
	struct dw_clr_function *row = dw_table_row(DWELL_CLR_FUNCTIONS, at);

	if (!at)
		return 0;
	row->module = module;
	row->token = token;
	row->name.bytes = text.bytes;
	__atomic_store_n(&row->name.at, text.at, __ATOMIC_RELEASE);
	return at;
}

uint32_t dw_intern_function(uint64_t function)
{
	const struct dw_id *id = dw_ids_find(&interned.functions, function);
	struct dw_name name;
	uint64_t module = 0, key;
	uint32_t token = 0, module_row, at;

	if (id)
		return id->value;
	dw_name_function(function, &name, &module, &token);
	module_row = dw_intern_module(module);
	key = hash_name(&name, 0x200000000u + ((uint64_t)token << 34) + module_row);
	if (!dw_agent_enter())
		return 0;
	id = dw_ids_find(&interned.names, key);
	at = id ? id->value : add_function(&name, module_row, token);
	if (at) {
		dw_ids_put(&interned.names, key, at, 0);
		dw_ids_put(&interned.functions, function, at, 0);
	}
	dw_agent_leave();
	return at;
}

/* Let @key be the function called @name. */
static uint32_t add_probed(const struct dw_name *name, uint64_t module, uint32_t token,
			   uint32_t key)
{
	uint32_t module_row = dw_intern_module(module), function, at = 0;
	struct dw_clr_probed *row;

	if (!module_row || !dw_agent_enter())
		return 0;
	function = add_function(name, module_row, token);
	if (function)
		at = dw_table_take_inside(DWELL_CLR_PROBED, 1);
	if (at) {
		row = dw_table_row(DWELL_CLR_PROBED, at);
		row->function = function;
		__atomic_store_n(&row->key, key, __ATOMIC_RELEASE);
	}
	dw_agent_leave();
	return at;
}

uint32_t dw_intern_probed(uint64_t module, uint32_t token, uint32_t key)
{
	struct dw_name name;

	dw_name_method(module, token, &name);
	return add_probed(&name, module, token, key);
}

uint32_t dw_intern_probed_as(uint64_t module, const char *name, uint32_t key)
{
	struct dw_name text = {0};

	dw_name_put_text(&text, name);
	return add_probed(&text, module, NO_METHOD, key);
}

/* The last version of @function with code before @ip, NULL = none. */
static const struct il_version *version_at(uint64_t function, uint64_t ip)
{
	const struct dw_id *id = dw_ids_find(&interned.compiled, function);
	const struct il_version *v =
		id ? __atomic_load_n(&interned.maps[id->value], __ATOMIC_ACQUIRE) : NULL;

	while (v && ip - 1 - v->start >= v->bytes)
		v = v->next;
	return v;
}

/* The offset in the IL of @function that the code before @ip comes from. */
static uint32_t il_offset(uint64_t function, uint64_t ip)
{
	const struct il_version *v = version_at(function, ip);
	uint32_t found = IL_NONE, nearest = 0;

	for (uint32_t i = 0; v && i < v->n; i++) {
		const struct il_entry *e = &v->entries[i];

		if (e->start <= ip - 1 - v->start && e->start >= nearest) {
			nearest = e->start;
			found = e->il;
		}
	}
	return found;
}

bool dw_interned_code(uint64_t function, uint64_t ip, struct dw_com_code *ret)
{
	const struct il_version *v = version_at(function, ip);

	if (v)
		*ret = (struct dw_com_code){v->start, v->bytes};
	return v;
}

uint32_t dw_intern_frame(uint64_t function, uint64_t ip)
{
	uint32_t row = dw_intern_function(function), il = il_offset(function, ip), at;
	uint64_t key = (uint64_t)(il + 2) << 32 | row;
	const struct dw_id *id = row ? dw_ids_find(&interned.frames, key) : NULL;
	struct dw_clr_frame *frame;

	if (id || !row || !dw_agent_enter())
		return id ? id->value : 0;
	id = dw_ids_find(&interned.frames, key);
	at = id ? id->value : dw_table_take_inside(DWELL_CLR_FRAMES, 1);
	if (at && !id) {
		frame = dw_table_row(DWELL_CLR_FRAMES, at);
		frame->il_offset = il;
		__atomic_store_n(&frame->function, row, __ATOMIC_RELEASE);
		dw_ids_put(&interned.frames, key, at, 0);
	}
	dw_agent_leave();
	return at;
}

bool dw_interned_is_dynamic(const struct dw_clr_frame *frame)
{
	const struct dw_clr_function *f = dw_table_row(DWELL_CLR_FUNCTIONS, frame->function);

	return frame->il_offset != DWELL_CLR_IL_NATIVE && !f->token;
}

bool dw_interned_is_hidden(const struct dw_clr_frame *frame)
{
	static const char stub[] = "IL_STUB", exceptions[] = "System.Runtime.EH::";
	const struct dw_clr_function *f = dw_table_row(DWELL_CLR_FUNCTIONS, frame->function);
	const char *prefix = dw_interned_is_dynamic(frame) ? stub : exceptions;
	size_t n = dw_text_length(prefix);

	return f->name.bytes >= n && !memcmp(dw_table_row(DWELL_CLR_TEXTS, f->name.at), prefix, n);
}

uint32_t dw_interned_find(uint64_t function)
{
	const struct dw_id *id = dw_ids_find(&interned.functions, function);

	return id ? id->value : 0;
}

void dw_interned_forget(void)
{
	dw_ids_remove(&interned.types, NULL, 0);
	dw_ids_remove(&interned.functions, NULL, 0);
	dw_ids_remove(&interned.modules, NULL, 0);
	dw_ids_remove(&interned.compiled, NULL, 0);
}

static bool has_value(const struct dw_id *id, uint32_t value)
{
	return id->value == value;
}

void dw_interned_forget_function(uint32_t row)
{
	dw_ids_remove(&interned.functions, has_value, row);
}

void dw_interned_forget_id(uint64_t function)
{
	dw_ids_drop(&interned.functions, function);
}

/* Memory that stays. Inside dw_agent_enter(). */
static void *save(uint64_t bytes)
{
	void *at;

	if (interned.saved_left < bytes) {
		interned.saved = dw_agent_memory(SAVED_BYTES);
		interned.saved_left = interned.saved ? SAVED_BYTES : 0;
	}
	if (interned.saved_left < bytes)
		return NULL;
	at = interned.saved;
	interned.saved += bytes;
	interned.saved_left -= bytes;
	return at;
}

/* The place of @function's list of versions. NULL = no room. Inside dw_agent_enter(). */
static struct il_version **versions_of(uint64_t function)
{
	const struct dw_id *id = dw_ids_find(&interned.compiled, function);
	const uint64_t room = (uint64_t)1 << 22;

	if (!interned.maps)
		interned.maps = dw_agent_memory(room * sizeof(*interned.maps));
	if (!id && interned.maps && interned.maps_n < room)
		id = dw_ids_put(&interned.compiled, function, interned.maps_n++, 0);
	return id ? &interned.maps[id->value] : NULL;
}

static void add_version(uint64_t function, const struct dw_com_code *code,
			const struct dw_com_il_map *map, uint32_t n)
{
	struct il_version **list, *v;

	if (!dw_agent_enter())
		return;
	list = versions_of(function);
	v = list ? save(sizeof(*v) + n * sizeof(v->entries[0])) : NULL;
	if (v) {
		v->start = code->start;
		v->bytes = code->bytes;
		for (uint32_t i = 0; i < n; i++)
			if ((int32_t)map[i].il >= 0)
				v->entries[v->n++] = (struct il_entry){map[i].start, map[i].il};
		v->next = *list;
		__atomic_store_n(list, v, __ATOMIC_RELEASE);
	}
	dw_agent_leave();
}

/* Whether the version of @function at @start is known. */
static bool is_known(uint64_t function, uint64_t start)
{
	const struct dw_id *id = dw_ids_find(&interned.compiled, function);
	const struct il_version *v =
		id ? __atomic_load_n(&interned.maps[id->value], __ATOMIC_ACQUIRE) : NULL;

	while (v && v->start != start)
		v = v->next;
	return v != NULL;
}

void dw_intern_compiled(uint64_t function)
{
	struct dw_com_il_map map[IL_MAP];
	struct dw_com_code code[CODE_PARTS];
	uint64_t starts[VERSIONS];
	uint32_t n = VERSIONS, parts, entries;

	if (dw_runtime_code_starts(function, starts, &n) < 0)
		return;
	for (uint32_t i = 0; i < n && i < VERSIONS; i++) {
		parts = CODE_PARTS;
		entries = IL_MAP;
		if (is_known(function, starts[i]) || dw_runtime_code(starts[i], code, &parts) < 0 ||
		    !parts)
			continue;
		if (dw_runtime_il_map(starts[i], map, &entries) < 0)
			entries = 0;
		add_version(function, &code[0], map, entries < IL_MAP ? entries : IL_MAP);
	}
}
