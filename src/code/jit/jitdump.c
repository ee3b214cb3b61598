/*
 * Records of jitdump; see jitdump.h. The form is that of Linux's perf (its document
 * jitdump-specification.txt). V8 adds the size of an ELF header to addresses of lines, for perf's
 * tool that makes ELF files of them; it is known by what it puts into the reserved word.
 */
#include "code/jit/jitdump.h"

#include "arch/registers.h"
#include "base/error.h"

#include <errno.h>
#include <string.h>

enum {
	MAGIC = 0x4a695444, /* "JiTD" */
	MAGIC_SWAPPED = 0x4454694a,
	VERSION = 1,
	OTHER_TIME = 1,
	PREFIX_BYTES = 16,
	V8_SHIFT = 64,
};

#define V8_RESERVED 0xdeadbeefu

int dw_jitdump_header_read(const void *bytes, size_t n, struct dw_jitdump_header *ret)
{
	uint32_t magic, version, machine, reserved;
	struct dw_cursor c;
	uint64_t flags;

	dw_cursor_init(&c, bytes, n);
	magic = dw_cursor_u32(&c);
	version = dw_cursor_u32(&c);
	ret->bytes = dw_cursor_u32(&c);
	machine = dw_cursor_u32(&c);
	reserved = dw_cursor_u32(&c);
	dw_cursor_skip(&c, 4 + 8); /* process, time */
	flags = dw_cursor_u64(&c);
	if (magic == MAGIC_SWAPPED)
		return DWELL_ERR_UNSUPPORTED;
	if (c.failed || magic != MAGIC || ret->bytes < DWELL_JITDUMP_HEADER_BYTES)
		return DWELL_ERR_FORMAT;
	if (version != VERSION || machine != DWELL_ELF_MACHINE)
		return DWELL_ERR_UNSUPPORTED;
	ret->has_other_time = flags & OTHER_TIME;
	ret->is_v8 = reserved == V8_RESERVED;
	return 0;
}

/* What is there of a name that is to end in a NUL. */
static void take_name(struct dw_cursor *c, struct dw_jitdump_record *r)
{
	r->name_n = strnlen((const char *)c->pos, dw_cursor_left(c));
	r->name = (const char *)dw_cursor_bytes(c, r->name_n);
}

static void take_body(struct dw_cursor *c, struct dw_jitdump_record *r)
{
	dw_cursor_skip(c, 4 + 4 + 8); /* process, thread, address in a file */
	if (r->kind == DWELL_JITDUMP_MOVE)
		dw_cursor_skip(c, 8); /* where it was: its index says what it is */
	r->start = dw_cursor_u64(c);
	r->code_bytes = dw_cursor_u64(c);
	r->index = dw_cursor_u64(c);
	if (r->kind == DWELL_JITDUMP_LOAD)
		take_name(c, r);
	if (c->failed || !r->code_bytes || r->start + r->code_bytes < r->start)
		r->kind = DWELL_JITDUMP_CLOSE;
}

int dw_jitdump_record_read(const void *bytes, size_t n, uint64_t left,
			   struct dw_jitdump_record *ret)
{
	struct dw_jitdump_record r = {0};
	struct dw_cursor c;

	if (n < PREFIX_BYTES || left < PREFIX_BYTES)
		return -EAGAIN;
	dw_cursor_init(&c, bytes, n);
	r.kind = dw_cursor_u32(&c);
	r.bytes = dw_cursor_u32(&c);
	r.time_ns = dw_cursor_u64(&c);
	if (r.bytes < PREFIX_BYTES)
		return DWELL_ERR_FORMAT;
	if (r.bytes > left)
		return -EAGAIN;
	dw_cursor_init(&c, bytes, r.bytes < n ? r.bytes : n);
	dw_cursor_skip(&c, PREFIX_BYTES);
	if (r.kind == DWELL_JITDUMP_LOAD || r.kind == DWELL_JITDUMP_MOVE)
		take_body(&c, &r);
	*ret = r;
	return 0;
}

void dw_jitdump_lines_init(struct dw_jitdump_lines *l, const void *record, size_t n,
			   const struct dw_jitdump_header *header)
{
	*l = (struct dw_jitdump_lines){.shift = header->is_v8 ? V8_SHIFT : 0};
	dw_cursor_init(&l->c, record, n);
	dw_cursor_skip(&l->c, PREFIX_BYTES + 8); /* the code's address */
	l->left = dw_cursor_u64(&l->c);
}

bool dw_jitdump_lines_next(struct dw_jitdump_lines *l, struct dw_jitdump_line *ret)
{
	const char *file;

	if (!l->left)
		return false;
	l->left--;
	l->last.avma = dw_cursor_u64(&l->c) - l->shift;
	l->last.line = dw_cursor_u32(&l->c);
	l->last.column = dw_cursor_u32(&l->c);
	file = dw_cursor_cstr(&l->c);
	if (!file || l->c.failed) {
		l->left = 0;
		return false;
	}
	/* That byte alone: the same file as before. */
	if (strcmp(file, "\xff") != 0) {
		l->last.file = file;
		l->last.file_n = strlen(file);
	}
	*ret = l->last;
	return true;
}
