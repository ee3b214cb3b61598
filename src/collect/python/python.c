/*
 * Code objects to functions; see python.h.
 *
 * The same function is told again whenever it is made anew, by each process and by each closure:
 * equal ones, by name, place and table of lines, share one place in the space of functions.
 */
#include "collect/python/python.h"

#include "base/cleanup.h"
#include "base/error.h"
#include "code/python/line-table.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define UNKNOWN_FILE "[python]"

/* A checked record, borrowed. */
struct told {
	struct dw_python_code head;
	const uint8_t *name, *file, *lines;
};

static bool is_text(const struct dw_python_text *t)
{
	return t->bytes <= DWELL_PYTHON_TEXT_MAX &&
	       (t->width == 1 || t->width == 2 || t->width == 4 || !t->bytes);
}

static bool check(const uint8_t *record, size_t n, struct told *ret)
{
	const struct dw_python_code *h = &ret->head;

	if (n < sizeof *h)
		return false;
	memcpy(&ret->head, record, sizeof *h);
	ret->name = record + sizeof *h;
	ret->file = ret->name + h->name.bytes;
	ret->lines = ret->file + h->file.bytes;
	return is_text(&h->name) && is_text(&h->file) && h->lines_bytes <= DWELL_PYTHON_LINES_MAX &&
	       h->code_bytes <= INT32_MAX &&
	       n == sizeof *h + h->name.bytes + h->file.bytes + h->lines_bytes;
}

/* What to call the module of the file @path: what follows a folder of Python's library, or the last
 * part. */
static const char *module_name(const char *path)
{
	static const char *const folders[] = {"/site-packages/", "/dist-packages/"};
	const char *slash = strrchr(path, '/'), *found;

	for (size_t i = 0; i < sizeof folders / sizeof *folders; i++) {
		found = strstr(path, folders[i]);
		if (found)
			return found + strlen(folders[i]);
	}
	found = strstr(path, "/lib/python");
	if (found) {
		found = strchr(found + strlen("/lib/"), '/');
		if (found)
			return found + 1;
	}
	return slash && slash[1] ? slash + 1 : path;
}

/* The function of @t: its id and module. */
static int declare(struct dw_python *all, const struct told *t, uint32_t *ret, uint32_t *ret_module)
{
	dw_auto(dw_buf) name = DW_BUF_INIT;
	dw_auto(dw_buf) file = DW_BUF_INIT;
	struct dw_jit_declaration d;
	const char *path;
	int rc;

	dw_python_text_put(&name, t->name, t->head.name.bytes, t->head.name.width);
	dw_python_text_put(&file, t->file, t->head.file.bytes, t->head.file.width);
	if (name.failed || file.failed)
		return -ENOMEM;
	path = file.len ? dw_buf_str(&file) : UNKNOWN_FILE;
	d = (struct dw_jit_declaration){.module_path = path,
					.module_name = module_name(path),
					.name = name.len ? dw_buf_str(&name) : "?",
					.file = path,
					.line = t->head.first_line <= INT32_MAX ? t->head.first_line
										: 0};
	rc = dw_jit_functions_declare(&all->jit->functions, &d, ret);
	if (!rc)
		*ret_module = all->jit->functions.rows.v[*ret - 1].module;
	return rc;
}

/* Add the lines of @t, whose code is at @svma. */
static int add_lines(struct dw_python *all, const struct dw_python_process *p, const struct told *t,
		     uint32_t function, uint64_t svma)
{
	struct dw_jit_lines *lines = &all->jit->lines;
	uint32_t file = all->jit->functions.rows.v[function - 1].file, last = UINT32_MAX;
	struct dw_python_line_table table;
	struct dw_python_lines piece;
	int rc = 0;

	dw_python_line_table_init(&table, p->told.version, t->lines, t->head.lines_bytes,
				  t->head.code_bytes, t->head.first_line);
	while (!rc && dw_python_line_table_next(&table, &piece)) {
		if (piece.line != last)
			rc = dw_jit_lines_add(
				lines,
				&(struct dw_jit_line){dw_jit_functions_inside(svma, piece.start),
						      file, piece.line, 0});
		last = piece.line;
	}
	return rc;
}

/* Where the code of @t lies in the space of @function. */
static int place(struct dw_python *all, const struct dw_python_process *p, const struct told *t,
		 uint32_t function, uint64_t *ret)
{
	uint64_t key = dw_hash_bytes(t->lines, t->head.lines_bytes,
				     (uint64_t)function << 32 | t->head.code_bytes);
	uint32_t row = dw_map_get(&all->places, key);
	int rc;

	if (row && all->svmas.v[row - 1] >> 32 == function) {
		*ret = all->svmas.v[row - 1];
		return 0;
	}
	if (all->svmas.n >= DWELL_PYTHON_CODES_MAX)
		return DWELL_ERR_LIMIT;
	*ret = dw_jit_functions_place(&all->jit->functions, function, t->head.code_bytes + 2ull);
	rc = dw_vec_push(&all->svmas, *ret);
	if (!rc)
		rc = dw_map_put(&all->places, key, (uint32_t)all->svmas.n);
	return rc ? rc : add_lines(all, p, t, function, *ret);
}

struct dw_python_process *dw_python_begin(const struct dw_python_runtime *told,
					  const struct dw_elf *elf, uint64_t bias)
{
	struct dw_python_process *p = calloc(1, sizeof *p);

	if (!p)
		return NULL;
	p->told = *told;
	p->bias = bias;
	if (elf && dw_python_eval_find(elf, told->eval - bias, &p->eval)) {
		free(p);
		return NULL;
	}
	return p;
}

int dw_python_tell(struct dw_python *all, struct dw_python_process *p, const uint8_t *record,
		   size_t n)
{
	struct dw_python_told row = {0};
	uint32_t function, known;
	struct told t;
	int rc;

	if (!check(record, n, &t))
		return DWELL_ERR_FORMAT;
	known = dw_map_get(&p->by_code, t.head.code);
	if (!known && p->codes.n >= DWELL_PYTHON_CODES_MAX)
		return 0;
	rc = declare(all, &t, &function, &row.module);
	if (!rc)
		rc = place(all, p, &t, function, &row.svma);
	if (rc)
		return rc == DWELL_ERR_LIMIT ? 0 : rc;
	row.seal = t.head.seal;
	row.bytes = t.head.code_bytes;
	if (known) {
		p->codes.v[known - 1] = row;
		return 0;
	}
	rc = dw_vec_push(&p->codes, row);
	return rc ? rc : dw_map_put(&p->by_code, t.head.code, (uint32_t)p->codes.n);
}

bool dw_python_frame(const struct dw_python_process *p, const struct dw_python_frame *frame,
		     struct dw_frame *ret)
{
	uint32_t row = dw_map_get(&p->by_code, frame->code & ~(uint64_t)DWELL_PYTHON_OUTERMOST);
	const struct dw_python_told *t = row ? &p->codes.v[row - 1] : NULL;

	if (!t || t->seal != frame->seal)
		return false;
	*ret = (struct dw_frame){.module = t->module, .svma = t->svma};
	if (frame->position < t->bytes)
		ret->svma = dw_jit_functions_inside(t->svma, frame->position);
	return true;
}

void dw_python_end(struct dw_python_process *p)
{
	if (!p)
		return;
	dw_map_release(&p->by_code);
	dw_vec_release(&p->codes);
	dw_map_release(&p->threads.by_tid);
	dw_vec_release(&p->threads.states);
	free(p);
}

void dw_python_release(struct dw_python *all)
{
	dw_map_release(&all->places);
	dw_vec_release(&all->svmas);
}
