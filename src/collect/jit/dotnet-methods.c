/*
 * Methods by events; see dotnet-methods.h. Events and their fields are those of the runtime's
 * manifest, ClrEtwAll.man. Which IL code comes from is an event of its own, which does not say
 * which of a method's codes it is about but comes just before that of the code.
 */
#include "collect/jit/dotnet-methods.h"

#include "base/cleanup.h"
#include "code/clr/nettrace.h"

#include <errno.h>

#define PROVIDER "Microsoft-Windows-DotNETRuntimeRundown"

enum {
	METHOD_EVENT = 144, /* MethodDCEndVerbose */
	IL_EVENT = 150,	    /* MethodDCEndILToNativeMap */
	MODULE_EVENT = 154, /* ModuleDCEnd */
	TOKEN_MASK = 0xffffff,
};

static int take_method(struct dw_dotnet_methods *m, struct dw_cursor *c)
{
	const uint32_t row = (uint32_t)m->rows.n;
	const uint64_t id = dw_cursor_u64(c);
	struct dw_dotnet_method method = {.module = dw_cursor_u64(c)};

	method.start = dw_cursor_u64(c);
	method.bytes = dw_cursor_u32(c);
	method.token = dw_cursor_u32(c) & TOKEN_MASK;
	method.il_n = id == m->next_method ? m->next_il_n : 0;
	method.il = (uint32_t)m->il.n - method.il_n;
	m->next_il_n = 0;
	if (c->failed || row >= DWELL_DOTNET_METHODS_MAX)
		return 0;
	if (dw_vec_push(&m->rows, method))
		return -ENOMEM;
	return dw_map_put(&m->by_start, method.start, row);
}

/* Read @n rows; those of offsets in the IL come first. */
static int read_il(struct dw_dotnet_methods *m, struct dw_cursor *c, uint32_t n)
{
	struct dw_cursor offsets = *c;

	dw_cursor_skip(&offsets, (size_t)n * 4);
	if (dw_vec_reserve(&m->il, n))
		return -ENOMEM;
	for (uint32_t i = 0; i < n; i++) {
		const struct dw_dotnet_il row = {.il = dw_cursor_u32(c),
						 .offset = dw_cursor_u32(&offsets)};

		if (offsets.failed)
			break;
		m->il.v[m->il.n++] = row;
	}
	return 0;
}

static int take_il(struct dw_dotnet_methods *m, struct dw_cursor *c)
{
	const size_t before = m->il.n;
	uint32_t n;
	int rc;

	m->next_method = dw_cursor_u64(c);
	dw_cursor_skip(c, 8 + 1); /* version, part */
	n = dw_cursor_u16(c);
	if (c->failed || before + n > DWELL_DOTNET_IL_MAX)
		n = 0;
	rc = read_il(m, c, n);
	m->next_il_n = (uint32_t)(m->il.n - before);
	return rc;
}

static int take_module(struct dw_dotnet_methods *m, struct dw_cursor *c)
{
	dw_auto(dw_buf) path = DW_BUF_INIT;
	uint64_t id = dw_cursor_u64(c);
	uint32_t text;
	int rc;

	dw_cursor_skip(c, 8 + 4 + 4); /* assembly, flags, nothing */
	dw_nettrace_text(c, &path);
	if (path.failed)
		return -ENOMEM;
	if (c->failed || !path.len)
		return 0;
	rc = dw_strings_add(&m->texts, path.data, path.len, &text);
	return rc ? rc : dw_map_put(&m->paths, id, text);
}

static int take_event(void *ctx, const struct dw_nettrace_event *e)
{
	struct dw_dotnet_methods *m = ctx;
	struct dw_cursor c;

	dw_cursor_init(&c, e->payload, e->payload_n);
	switch (e->id) {
	case METHOD_EVENT:
		return take_method(m, &c);
	case IL_EVENT:
		return take_il(m, &c);
	case MODULE_EVENT:
		return take_module(m, &c);
	default:
		return 0;
	}
}

int dw_dotnet_methods_read(struct dw_dotnet_methods *m, const void *bytes, size_t n)
{
	int rc = dw_vec_push(&m->rows, (struct dw_dotnet_method){0});

	if (!rc)
		rc = dw_nettrace_read(bytes, n, PROVIDER, take_event, m);
	return rc == -ENOMEM ? rc : 0;
}

const struct dw_dotnet_method *dw_dotnet_methods_find(const struct dw_dotnet_methods *m,
						      uint64_t start, uint64_t bytes)
{
	uint32_t row = dw_map_get(&m->by_start, start);

	return row && m->rows.v[row].bytes == bytes ? &m->rows.v[row] : NULL;
}

const char *dw_dotnet_methods_path(const struct dw_dotnet_methods *m,
				   const struct dw_dotnet_method *method)
{
	uint32_t text = dw_map_get(&m->paths, method->module);

	return text ? dw_strings_get(&m->texts, text) : NULL;
}

void dw_dotnet_methods_release(struct dw_dotnet_methods *m)
{
	dw_vec_release(&m->rows);
	dw_vec_release(&m->il);
	dw_strings_release(&m->texts);
	dw_map_release(&m->by_start);
	dw_map_release(&m->paths);
	m->next_il_n = 0;
}
