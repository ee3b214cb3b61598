/*
 * The runtime's functions; see runtime.h. Slots are numbers of the tables of ICorProfilerInfo13
 * and IMetaDataImport2, which only ever grow.
 */
#include "agent/clr/runtime.h"

/* Slots of ICorProfilerInfo13. */
enum {
	INFO_FIRST_CODE = 5,
	INFO_ARRAY = 11,
	INFO_THREAD = 13,
	INFO_FUNCTION = 15,
	INFO_METADATA = 21,
	INFO_BODY = 22,
	INFO_COLLECT = 28,
	INFO_SNAPSHOT = 36,
	INFO_CLASS = 41,
	INFO_GENERATIONS = 54,
	INFO_GENERATION = 55,
	INFO_HANDLER = 56,
	INFO_VERSION = 67,
	INFO_MODULE = 70,
	INFO_RECOMPILE = 73,
	INFO_EVENTS = 82,
	INFO_IS_DYNAMIC = 87,
	INFO_AT = 88,
	INFO_DYNAMIC = 89,
	INFO_CODE_STARTS = 90,
	INFO_IL_MAP = 91,
	INFO_CODE = 92,
	INFO_SET_VARIABLE = 100,
	INFO_LISTEN = 101,
	INFO_HEAP = 114, /* of ICorProfilerInfo15 */
};

/* Slots of IMetaDataImport2. */
enum {
	METADATA_CLOSE = 3,
	METADATA_TYPE_NAMED = 9,
	METADATA_TYPE = 12,
	METADATA_REFERENCE = 14,
	METADATA_METHODS_NAMED = 19,
	METADATA_METHOD = 30,
	METADATA_SIGNATURE = 41,
	METADATA_OUTER = 62,
	METADATA_PARAMETERS = 65,
	METADATA_PARAMETER = 66,
};

/* Of IMetaDataEmit, and of ICorProfilerFunctionControl. */
enum { EMIT_SIGNATURE = 23, CONTROL_BODY = 4, CONTROL_MAP = 5 };

enum { METADATA_WRITE = 1 }; /* ofWrite */

enum { SLOT_QUERY = 0, SLOT_RELEASE = 2, SNAPSHOT_REGISTERS = 1, IS_ARRAY = 0 };

static const struct dw_guid info13 = {
	0x6e6c7ee2, 0x0701, 0x4ec2, {0x9d, 0x29, 0x2e, 0x87, 0x33, 0xb6, 0x69, 0x34}};
static const struct dw_guid info15 = {
	0xb446462d, 0xbd22, 0x41dd, {0x87, 0x2d, 0xdc, 0x71, 0x4c, 0x49, 0xeb, 0x56}};
static const struct dw_guid metadata_import = {
	0xfce5efa0, 0x8bba, 0x4f8e, {0xa0, 0x36, 0x8f, 0x20, 0x22, 0xb0, 0x84, 0x66}};

static const struct dw_guid metadata_emit = {
	0xba3fee4c, 0xecb9, 0x4e41, {0x83, 0xb7, 0x18, 0x3f, 0xa4, 0x1c, 0xd8, 0x59}};

static void *info; /* ICorProfilerInfo13, constant after the start */

static void *slot(void *object, int i)
{
	return (*(void ***)object)[i];
}

bool dw_runtime_start(void *unknown)
{
	int32_t (*query)(void *, const struct dw_guid *, void **) = slot(unknown, SLOT_QUERY);

	return query(unknown, &info13, &info) >= 0 && info;
}

const void *dw_runtime_address(void)
{
	return slot(info, INFO_EVENTS);
}

int32_t dw_runtime_events(uint32_t low, uint32_t high)
{
	int32_t (*set)(void *, uint32_t, uint32_t) = slot(info, INFO_EVENTS);

	return set(info, low, high);
}

int32_t dw_runtime_listen(uint64_t words, uint32_t level)
{
	int32_t (*start)(void *, uint32_t, const struct dw_com_provider *, int32_t, uint64_t *) =
		slot(info, INFO_LISTEN);
	const struct dw_com_provider provider = {u"Microsoft-Windows-DotNETRuntime", words, level,
						 NULL};
	uint64_t session;

	return start(info, 1, &provider, 0, &session);
}

int32_t dw_runtime_unset(const uint16_t *name)
{
	int32_t (*set)(void *, const uint16_t *, const uint16_t *) = slot(info, INFO_SET_VARIABLE);

	return set(info, name, NULL);
}

int32_t dw_runtime_version(uint16_t ret[3])
{
	int32_t (*get)(void *, uint16_t *, uint32_t *, uint16_t *, uint16_t *, uint16_t *,
		       uint16_t *, uint32_t, uint32_t *, uint16_t *) = slot(info, INFO_VERSION);
	uint16_t instance, fix, text[64];
	uint32_t kind, n;

	return get(info, &instance, &kind, &ret[0], &ret[1], &ret[2], &fix, 64, &n, text);
}

uint64_t *dw_runtime_thread(void)
{
	int32_t (*get)(void *, uint64_t **) = slot(info, INFO_THREAD);
	uint64_t *thread = NULL;

	return get(info, &thread) >= 0 ? thread : NULL;
}

int32_t dw_runtime_function_at(uint64_t ip, uint64_t *ret)
{
	int32_t (*get)(void *, uint64_t, uint64_t *, uint64_t *) = slot(info, INFO_AT);
	uint64_t version = 0;

	*ret = 0;
	return get(info, ip, ret, &version);
}

bool dw_runtime_dynamic_name(uint64_t function, uint16_t *ret, uint32_t room, uint32_t *ret_n)
{
	int32_t (*is)(void *, uint64_t, int32_t *) = slot(info, INFO_IS_DYNAMIC);
	int32_t (*get)(void *, uint64_t, uint64_t *, const uint8_t **, uint32_t *, uint32_t,
		       uint32_t *, uint16_t *) = slot(info, INFO_DYNAMIC);
	int32_t is_dynamic = 0;
	uint64_t module;
	const uint8_t *signature;
	uint32_t bytes;

	if (is(info, function, &is_dynamic) < 0 || !is_dynamic)
		return false;
	if (get(info, function, &module, &signature, &bytes, room, ret_n, ret) < 0)
		*ret_n = 0;
	return true;
}

int32_t dw_runtime_function_token(uint64_t function, uint64_t *ret_module, uint32_t *ret_token)
{
	int32_t (*get)(void *, uint64_t, uint64_t *, uint64_t *, uint32_t *) =
		slot(info, INFO_FUNCTION);
	uint64_t class;

	return get(info, function, &class, ret_module, ret_token);
}

int32_t dw_runtime_array(uint64_t class, int32_t *ret_kind, uint64_t *ret_element,
			 uint32_t *ret_rank)
{
	int32_t (*get)(void *, uint64_t, int32_t *, uint64_t *, uint32_t *) =
		slot(info, INFO_ARRAY);

	return get(info, class, ret_kind, ret_element, ret_rank);
}

int32_t dw_runtime_class(uint64_t class, uint64_t *ret_module, uint32_t *ret_token,
			 uint64_t *ret_arguments, uint32_t *n)
{
	int32_t (*get)(void *, uint64_t, uint64_t *, uint32_t *, uint64_t *, uint32_t, uint32_t *,
		       uint64_t *) = slot(info, INFO_CLASS);
	uint64_t parent;

	return get(info, class, ret_module, ret_token, &parent, *n, n, ret_arguments);
}

int32_t dw_runtime_module(uint64_t module, uint16_t *ret, uint32_t room, uint32_t *ret_n,
			  uint32_t *ret_flags)
{
	int32_t (*get)(void *, uint64_t, const uint8_t **, uint32_t, uint32_t *, uint16_t *,
		       uint64_t *, uint32_t *) = slot(info, INFO_MODULE);
	const uint8_t *base;
	uint64_t assembly;

	return get(info, module, &base, room, ret_n, ret, &assembly, ret_flags);
}

void *dw_metadata_open(uint64_t module)
{
	int32_t (*get)(void *, uint64_t, uint32_t, const struct dw_guid *, void **) =
		slot(info, INFO_METADATA);
	void *metadata = NULL;

	return get(info, module, 0, &metadata_import, &metadata) < 0 ? NULL : metadata;
}

void dw_metadata_close(void *metadata)
{
	uint32_t (*release)(void *) = slot(metadata, SLOT_RELEASE);

	release(metadata);
}

int32_t dw_metadata_type(void *metadata, uint32_t token, uint16_t *ret, uint32_t room,
			 uint32_t *ret_n)
{
	int32_t (*get)(void *, uint32_t, uint16_t *, uint32_t, uint32_t *, uint32_t *, uint32_t *) =
		slot(metadata, METADATA_TYPE);
	uint32_t flags, base;

	return get(metadata, token, ret, room, ret_n, &flags, &base);
}

int32_t dw_metadata_outer(void *metadata, uint32_t token, uint32_t *ret)
{
	int32_t (*get)(void *, uint32_t, uint32_t *) = slot(metadata, METADATA_OUTER);

	return get(metadata, token, ret);
}

int32_t dw_metadata_reference(void *metadata, uint32_t token, uint32_t *ret_scope, uint16_t *ret,
			      uint32_t room, uint32_t *ret_n)
{
	int32_t (*get)(void *, uint32_t, uint32_t *, uint16_t *, uint32_t, uint32_t *) =
		slot(metadata, METADATA_REFERENCE);

	return get(metadata, token, ret_scope, ret, room, ret_n);
}

int32_t dw_metadata_method(void *metadata, uint32_t token, uint16_t *ret, uint32_t room,
			   struct dw_com_method *ret_more)
{
	int32_t (*get)(void *, uint32_t, uint32_t *, uint16_t *, uint32_t, uint32_t *, uint32_t *,
		       const uint8_t **, uint32_t *, uint32_t *, uint32_t *) =
		slot(metadata, METADATA_METHOD);
	uint32_t flags;

	return get(metadata, token, &ret_more->type, ret, room, &ret_more->units, &flags,
		   &ret_more->signature, &ret_more->signature_bytes, &ret_more->rva,
		   &ret_more->flags);
}

int32_t dw_metadata_signature(void *metadata, uint32_t token, const uint8_t **ret, uint32_t *ret_n)
{
	int32_t (*get)(void *, uint32_t, const uint8_t **, uint32_t *) =
		slot(metadata, METADATA_SIGNATURE);

	return get(metadata, token, ret, ret_n);
}

int32_t dw_metadata_type_named(void *metadata, const uint16_t *name, uint32_t *ret)
{
	int32_t (*find)(void *, const uint16_t *, uint32_t, uint32_t *) =
		slot(metadata, METADATA_TYPE_NAMED);

	return find(metadata, name, 0, ret);
}

uint32_t dw_metadata_methods_named(void *metadata, uint32_t type, const uint16_t *name,
				   uint32_t *ret, uint32_t room)
{
	int32_t (*list)(void *, void **, uint32_t, const uint16_t *, uint32_t *, uint32_t,
			uint32_t *) = slot(metadata, METADATA_METHODS_NAMED);
	void (*close)(void *, void *) = slot(metadata, METADATA_CLOSE);
	void *all = NULL;
	uint32_t n = 0;

	if (list(metadata, &all, type, name, ret, room, &n) < 0)
		n = 0;
	if (all)
		close(metadata, all);
	return n < room ? n : room;
}

bool dw_metadata_is_overloaded(void *metadata, uint32_t type, const uint16_t *name)
{
	uint32_t tokens[2];

	return dw_metadata_methods_named(metadata, type, name, tokens, 2) > 1;
}

uint32_t dw_metadata_parameters(void *metadata, uint32_t owner, uint32_t *ret, uint32_t room)
{
	int32_t (*list)(void *, void **, uint32_t, uint32_t *, uint32_t, uint32_t *) =
		slot(metadata, METADATA_PARAMETERS);
	void (*close)(void *, void *) = slot(metadata, METADATA_CLOSE);
	void *all = NULL;
	uint32_t n = 0;

	if (list(metadata, &all, owner, ret, room, &n) < 0)
		n = 0;
	if (all)
		close(metadata, all);
	return n < room ? n : room;
}

int32_t dw_metadata_parameter(void *metadata, uint32_t token, uint16_t *ret, uint32_t room,
			      uint32_t *ret_n)
{
	int32_t (*get)(void *, uint32_t, uint32_t *, uint32_t *, uint32_t *, uint32_t *, uint16_t *,
		       uint32_t, uint32_t *) = slot(metadata, METADATA_PARAMETER);
	uint32_t number, flags, owner, reserved;

	return get(metadata, token, &number, &flags, &owner, &reserved, ret, room, ret_n);
}

int32_t dw_runtime_collect(void)
{
	int32_t (*collect)(void *) = slot(info, INFO_COLLECT);

	return collect(info);
}

int32_t dw_runtime_snapshot(dw_com_frame_fn *fn, void *ctx)
{
	int32_t (*take)(void *, uint64_t, dw_com_frame_fn *, uint32_t, void *, uint8_t *,
			uint32_t) = slot(info, INFO_SNAPSHOT);

	return take(info, 0, fn, SNAPSHOT_REGISTERS, ctx, NULL, 0);
}

int32_t dw_runtime_generations(struct dw_com_range *ret, uint32_t *n)
{
	int32_t (*get)(void *, uint32_t, uint32_t *, struct dw_com_range *) =
		slot(info, INFO_GENERATIONS);

	return get(info, *n, n, ret);
}

int32_t dw_runtime_generation(uint64_t object, int32_t *ret)
{
	int32_t (*get)(void *, uint64_t, struct dw_com_range *) = slot(info, INFO_GENERATION);
	struct dw_com_range range = {.generation = -1};
	int32_t rc = get(info, object, &range);

	*ret = range.generation;
	return rc;
}

int32_t dw_runtime_heap(dw_com_object_fn *fn, void *ctx)
{
	int32_t (*query)(void *, const struct dw_guid *, void **) = slot(info, SLOT_QUERY);
	int32_t (*walk)(void *, dw_com_object_fn *, void *);
	void *newer;

	if (query(info, &info15, &newer) < 0)
		return DWELL_HR_NO_INTERFACE;
	walk = slot(newer, INFO_HEAP);
	return walk(newer, fn, ctx);
}

int32_t dw_runtime_first_code(uint64_t function, struct dw_com_code *ret)
{
	int32_t (*get)(void *, uint64_t, uint64_t *, uint32_t *) = slot(info, INFO_FIRST_CODE);
	uint32_t bytes = 0;
	int32_t rc = get(info, function, &ret->start, &bytes);

	ret->bytes = bytes;
	return rc;
}

int32_t dw_runtime_code_starts(uint64_t function, uint64_t *ret, uint32_t *n)
{
	int32_t (*get)(void *, uint64_t, uint64_t, uint32_t, uint32_t *, uint64_t *) =
		slot(info, INFO_CODE_STARTS);

	return get(info, function, 0, *n, n, ret);
}

int32_t dw_runtime_code(uint64_t start, struct dw_com_code *ret, uint32_t *n)
{
	int32_t (*get)(void *, uint64_t, uint32_t, uint32_t *, struct dw_com_code *) =
		slot(info, INFO_CODE);

	return get(info, start, *n, n, ret);
}

int32_t dw_runtime_il_map(uint64_t start, struct dw_com_il_map *ret, uint32_t *n)
{
	int32_t (*get)(void *, uint64_t, uint32_t, uint32_t *, struct dw_com_il_map *) =
		slot(info, INFO_IL_MAP);

	return get(info, start, *n, n, ret);
}

int32_t dw_runtime_recompile(uint32_t n, const uint64_t *modules, const uint32_t *tokens)
{
	int32_t (*request)(void *, uint32_t, const uint64_t *, const uint32_t *) =
		slot(info, INFO_RECOMPILE);

	return request(info, n, modules, tokens);
}

int32_t dw_runtime_body(uint64_t module, uint32_t token, const uint8_t **ret, uint32_t *ret_bytes)
{
	int32_t (*get)(void *, uint64_t, uint32_t, const uint8_t **, uint32_t *) =
		slot(info, INFO_BODY);

	return get(info, module, token, ret, ret_bytes);
}

int32_t dw_runtime_handler_frame(uint64_t *ret)
{
	int32_t (*get)(void *, struct dw_com_clause *) = slot(info, INFO_HANDLER);
	struct dw_com_clause clause = {0};
	int32_t rc = get(info, &clause);

	*ret = clause.frame;
	return rc < 0 || clause.frame ? rc : DWELL_HR_FAIL;
}

int32_t dw_runtime_signature(uint64_t module, const uint8_t *bytes, uint32_t n, uint32_t *ret)
{
	int32_t (*open)(void *, uint64_t, uint32_t, const struct dw_guid *, void **) =
		slot(info, INFO_METADATA);
	int32_t (*get)(void *, const uint8_t *, uint32_t, uint32_t *);
	void *emit = NULL;
	int32_t rc = open(info, module, METADATA_WRITE, &metadata_emit, &emit);

	if (rc < 0 || !emit)
		return rc < 0 ? rc : DWELL_HR_FAIL;
	get = slot(emit, EMIT_SIGNATURE);
	rc = get(emit, bytes, n, ret);
	dw_metadata_close(emit);
	return rc;
}

int32_t dw_runtime_set_body(void *control, const uint8_t *body, uint32_t bytes)
{
	int32_t (*set)(void *, uint32_t, const uint8_t *) = slot(control, CONTROL_BODY);

	return set(control, bytes, body);
}

int32_t dw_runtime_set_map(void *control, const void *rows, uint32_t n)
{
	int32_t (*set)(void *, uint32_t, const void *) = slot(control, CONTROL_MAP);

	return set(control, n, rows);
}
