/*
 * Rows to ids; see metadata.h. Modules are the same for all processes that have loaded the same
 * path. A method that the program has made itself has no token, and those of assemblies without a
 * file have the same ones as those of others of that name: they get one by their name.
 */
#include "collect/clr/metadata.h"

#include "base/cleanup.h"
#include "base/error.h"
#include "code/clr/method-name.h"

#include <errno.h>
#include <string.h>

#define EMPTY_STACK    UINT32_MAX
#define TOKEN_MASK     0xffffffu
#define DYNAMIC_MODULE "[dynamic]"
#define NATIVE_MODULE  "[native]"
#define NATIVE_CODE    "[native code]"

_Static_assert((int)DWELL_CLR_PART_FUNCTION == DWELL_PART_FUNCTION &&
		       (int)DWELL_CLR_PART_MODULE == DWELL_PART_MODULE &&
		       (int)DWELL_CLR_PART_CALL == DWELL_PART_CALL &&
		       (int)DWELL_CLR_PART_LINE == DWELL_PART_LINE &&
		       (int)DWELL_CLR_PART_LEAF == DWELL_PART_LEAF &&
		       (int)DWELL_CLR_PARTS == DWELL_PART_MAX + 1,
	       "parts are the same");

/* Make a list of ids long enough for @row. */
#define REACH(vec, row)                                  \
	({                                               \
		int reach_rc_ = 0;                       \
		while ((vec)->n <= (row) && !reach_rc_)  \
			reach_rc_ = dw_vec_push(vec, 0); \
		reach_rc_;                               \
	})

static int find_module(const struct dw_profile *p, enum dw_module_kind kind, uint32_t path,
		       uint32_t *ret)
{
	for (uint32_t id = 1; id <= dw_modules_count(&p->modules); id++) {
		const struct dw_module *m = dw_modules_get(&p->modules, id);

		if (m->kind == kind && m->path == path)
			*ret = id;
	}
	return *ret ? 0 : DWELL_ERR_NOT_FOUND;
}

/* The module of @kind that is called @path. */
static int add_module(struct dw_profile *p, enum dw_module_kind kind, const char *path, size_t n,
		      uint32_t *ret)
{
	const char *slash = memrchr(path, '/', n);
	struct dw_module m = {.kind = kind};
	size_t skip = slash ? (size_t)(slash + 1 - path) : 0;
	int rc = dw_strings_add(&p->strings, path, n, &m.path);

	*ret = 0;
	if (!rc && !find_module(p, kind, m.path, ret))
		return 0;
	if (!rc)
		rc = dw_strings_add(&p->strings, path + skip, n - skip, &m.name);
	return rc ? rc : dw_modules_add(&p->modules, &m, ret);
}

static int get_module(struct dw_clr_metadata *m, uint32_t row, uint32_t *ret)
{
	struct dw_clr_module module;
	enum dw_module_kind kind;
	const char *path;
	size_t n;
	int rc;

	*ret = 0;
	if (!dw_clr_tables_get(m->tables, DWELL_CLR_MODULES, row, &module))
		return 0;
	rc = REACH(&m->modules, row);
	if (rc)
		return rc;
	path = dw_clr_tables_text(m->tables, module.path, &n);
	kind = module.is_native ? DWELL_MODULE_FILE : DWELL_MODULE_MANAGED;
	if (!m->modules.v[row] && path)
		rc = add_module(m->p, kind, path, n, &m->modules.v[row]);
	*ret = m->modules.v[row];
	return rc;
}

int dw_clr_type(struct dw_clr_metadata *m, uint32_t row, uint32_t *ret)
{
	struct dw_alloc_type type = {.process = m->process};
	struct dw_clr_type from;
	const char *name;
	size_t n;
	int rc;

	*ret = 0;
	if (!dw_clr_tables_get(m->tables, DWELL_CLR_TYPES, row, &from))
		return 0;
	rc = REACH(&m->types, row);
	if (rc || m->types.v[row]) {
		*ret = rc ? 0 : m->types.v[row];
		return rc;
	}
	name = dw_clr_tables_text(m->tables, from.name, &n);
	if (!name)
		return 0;
	rc = dw_strings_add(&m->p->strings, name, n, &type.name);
	if (!rc)
		rc = get_module(m, from.module, &type.module);
	if (!rc)
		rc = dw_allocations_type(&m->p->allocations, &type, &m->types.v[row]);
	*ret = m->types.v[row];
	return rc;
}

/* Whether tokens of the module in row @row say which method it is. */
static bool has_tokens(const struct dw_clr_metadata *m, uint32_t row)
{
	struct dw_clr_module module;

	return dw_clr_tables_get(m->tables, DWELL_CLR_MODULES, row, &module) && !module.is_dynamic;
}

int dw_clr_method(struct dw_clr_metadata *m, uint32_t row, struct dw_alloc_method *ret)
{
	dw_auto(dw_buf) name = DW_BUF_INIT;
	struct dw_clr_function f;
	const char *text = NULL;
	uint32_t id;
	size_t n;
	int rc;

	*ret = (struct dw_alloc_method){0};
	if (dw_clr_tables_get(m->tables, DWELL_CLR_FUNCTIONS, row, &f))
		text = dw_clr_tables_text(m->tables, f.name, &n);
	if (!text)
		return DWELL_ERR_FORMAT;
	dw_method_name_put(&name, text, n);
	if (!name.failed && !name.len)
		return DWELL_ERR_FORMAT;
	rc = name.failed ? -ENOMEM : get_module(m, f.module, &ret->module);
	if (!rc)
		rc = dw_strings_add(&m->p->strings, name.data, name.len, &ret->name);
	ret->token = ret->module && f.token && has_tokens(m, f.module) ? f.token & TOKEN_MASK
								       : ret->name & TOKEN_MASK;
	if (!rc && (!ret->module || !f.token))
		rc = add_module(m->p, DWELL_MODULE_MANAGED, DYNAMIC_MODULE, strlen(DYNAMIC_MODULE),
				&ret->module);
	return rc ? rc : dw_allocations_method(&m->p->allocations, ret, &id);
}

/* Native code between managed functions: a method that is all there is of a module. */
static int add_native(struct dw_clr_metadata *m)
{
	struct dw_alloc_method method = {.token = 1};
	struct dw_frame frame;
	uint32_t id;
	int rc = add_module(m->p, DWELL_MODULE_MANAGED, NATIVE_MODULE, strlen(NATIVE_MODULE),
			    &method.module);

	if (!rc)
		rc = dw_strings_adds(&m->p->strings, NATIVE_CODE, &method.name);
	frame = (struct dw_frame){
		.kind = DWELL_FRAME_CODE,
		.module = method.module,
		.svma = (uint64_t)method.token << 32,
	};
	if (!rc)
		rc = dw_allocations_method(&m->p->allocations, &method, &id);
	return rc ? rc : dw_frames_add(&m->p->frames, frame, &m->native);
}

static int get_managed(struct dw_clr_metadata *m, const struct dw_clr_frame *from,
		       struct dw_frame *ret)
{
	struct dw_alloc_method method;
	int rc = dw_clr_method(m, from->function, &method);

	ret->module = method.module;
	ret->svma = (uint64_t)method.token << 32;
	if (from->il_offset != UINT32_MAX)
		ret->svma |= from->il_offset;
	return rc;
}

static int get_native(struct dw_clr_metadata *m, uint32_t row, struct dw_frame *ret)
{
	struct dw_clr_native from;
	int rc;

	if (!dw_clr_tables_get(m->tables, DWELL_CLR_NATIVES, row, &from) || !from.svma)
		return DWELL_ERR_FORMAT;
	ret->svma = from.svma - 1;
	rc = get_module(m, from.module, &ret->module);
	return !rc && !ret->module ? DWELL_ERR_FORMAT : rc;
}

static int get_frame(struct dw_clr_metadata *m, uint32_t row, uint32_t *ret)
{
	struct dw_frame frame = {.kind = DWELL_FRAME_CUT};
	struct dw_clr_frame from;
	int rc;

	if (row - DWELL_CLR_FRAME_PART < DWELL_CLR_PARTS) {
		frame.kind = DWELL_FRAME_PART;
		frame.svma = row - DWELL_CLR_FRAME_PART;
		return dw_frames_add(&m->p->frames, frame, ret);
	}
	if (row == DWELL_CLR_FRAME_TRUNCATED)
		return dw_frames_add(&m->p->frames, frame, ret);
	if (row == DWELL_CLR_FRAME_NATIVE) {
		rc = m->native ? 0 : add_native(m);
		*ret = m->native;
		return rc;
	}
	if (!dw_clr_tables_get(m->tables, DWELL_CLR_FRAMES, row, &from))
		return DWELL_ERR_FORMAT;
	rc = REACH(&m->frames, row);
	if (!rc && !m->frames.v[row]) {
		frame.kind = DWELL_FRAME_CODE;
		rc = from.il_offset == DWELL_CLR_IL_NATIVE ? get_native(m, from.function, &frame)
							   : get_managed(m, &from, &frame);
		if (!rc)
			rc = dw_frames_add(&m->p->frames, frame, &m->frames.v[row]);
	}
	if (!rc)
		*ret = m->frames.v[row];
	return rc;
}

/* List the nodes from @row up to one whose stack is known, at least one without parent. */
static int list_path(struct dw_clr_metadata *m, uint32_t row)
{
	struct dw_clr_node node;

	m->path.n = 0;
	while (!m->stacks.v[row]) {
		if (!dw_clr_tables_get(m->tables, DWELL_CLR_NODES, row, &node) || !node.frame ||
		    node.parent >= row)
			return DWELL_ERR_FORMAT;
		if (dw_vec_push(&m->path, row))
			return -ENOMEM;
		if (!node.parent) {
			m->stacks.v[row] = EMPTY_STACK;
			m->path.n--;
			return 0;
		}
		row = node.parent;
	}
	return 0;
}

/* Give the node @row, whose parent's stack is known, its own. */
static int add_stack(struct dw_clr_metadata *m, uint32_t row)
{
	struct dw_clr_node node;
	uint32_t parent, frame;
	int rc;

	if (!dw_clr_tables_get(m->tables, DWELL_CLR_NODES, row, &node))
		return DWELL_ERR_FORMAT;
	parent = m->stacks.v[node.parent];
	rc = get_frame(m, node.frame, &frame);
	if (rc)
		return rc;
	return dw_stacks_add(&m->p->stacks, parent == EMPTY_STACK ? 0 : parent, frame,
			     &m->stacks.v[row]);
}

int dw_clr_stack(struct dw_clr_metadata *m, uint32_t row, uint32_t *ret)
{
	int rc;

	*ret = 0;
	if (!row || row >= m->tables->all[DWELL_CLR_NODES].n)
		return DWELL_ERR_FORMAT;
	rc = REACH(&m->stacks, row);
	if (!rc)
		rc = list_path(m, row);
	while (!rc && m->path.n)
		rc = add_stack(m, m->path.v[--m->path.n]);
	if (!rc && m->stacks.v[row] != EMPTY_STACK)
		*ret = m->stacks.v[row];
	return rc;
}

int dw_clr_thread(struct dw_clr_metadata *m, uint32_t row, uint32_t *ret)
{
	struct dw_thread thread = {.process = m->process, .end_ns = DWELL_TIME_NONE, .dirty = true};
	struct dw_clr_thread from;
	int rc;

	*ret = 0;
	if (!dw_clr_tables_get(m->tables, DWELL_CLR_THREADS, row, &from) || !from.tid)
		return 0;
	rc = REACH(&m->threads, row);
	if (!rc && !m->threads.v[row]) {
		thread.tid = from.tid;
		thread.begin_ns = from.start_ns > m->start_ns ? from.start_ns - m->start_ns : 0;
		rc = dw_threads_add(&m->p->threads, &thread, &m->threads.v[row]);
	}
	*ret = rc ? 0 : m->threads.v[row];
	return rc;
}

void dw_clr_metadata_release(struct dw_clr_metadata *m)
{
	dw_vec_release(&m->modules);
	dw_vec_release(&m->types);
	dw_vec_release(&m->frames);
	dw_vec_release(&m->threads);
	dw_vec_release(&m->stacks);
	dw_vec_release(&m->path);
}
