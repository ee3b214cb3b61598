/*
 * What is told to functions; see interpreter.h.
 *
 * The same function is told again whenever it is made anew, by each process and by each closure:
 * equal ones, by name, place and table of lines, share one place in the space of functions.
 */
#include "collect/interpreter/interpreter.h"

#include "base/cleanup.h"
#include "base/error.h"
#include "code/python/line-table.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A checked record, borrowed. */
struct told {
	struct dw_interpreter_code head;
	const uint8_t *owner, *name, *file, *lines;
};

static bool is_text(const struct dw_interpreter_text *t)
{
	return t->bytes <= DWELL_INTERPRETER_TEXT_MAX &&
	       (t->width == 1 || t->width == 2 || t->width == 4 || !t->bytes);
}

static bool check(const struct dw_interpreter_process *p, const uint8_t *record, size_t n,
		  struct told *ret)
{
	const struct dw_interpreter_code *h = &ret->head;

	if (n < sizeof *h)
		return false;
	memcpy(&ret->head, record, sizeof *h);
	ret->owner = record + sizeof *h;
	ret->name = ret->owner + h->owner.bytes;
	ret->file = ret->name + h->name.bytes;
	ret->lines = ret->file + h->file.bytes;
	return is_text(&h->owner) && is_text(&h->name) && is_text(&h->file) &&
	       h->lines_bytes <= DWELL_INTERPRETER_LINES_MAX &&
	       h->code_bytes <= (p->told.language == DWELL_PYTHON
					 ? (uint32_t)INT32_MAX
					 : (uint32_t)DWELL_INTERPRETER_LINES_MAX) &&
	       n == sizeof *h + h->owner.bytes + h->name.bytes + h->file.bytes + h->lines_bytes;
}

static const char *last_part(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash && slash[1] ? slash + 1 : path;
}

/* What to call the module of the file @path: what follows a folder of a language's library, or the
 * last part. */
static const char *module_name(const char *path)
{
	static const char *const folders[] = {"/site-packages/", "/dist-packages/"};
	const char *found;

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
	return last_part(path);
}

static void put_text(struct dw_buf *to, const struct dw_interpreter_text *text,
		     const uint8_t *bytes)
{
	dw_python_text_put(to, bytes, text->bytes, text->width);
}

/* What the function of @t is called, which has the file @path: top-level code after that. */
static void put_name(struct dw_buf *to, const struct told *t, const char *path)
{
	const uint8_t *end = memchr(t->owner, 0, t->head.owner.bytes);
	struct dw_interpreter_text owner = t->head.owner;

	if (!t->head.name.bytes) {
		dw_buf_puts(to, last_part(path));
		return;
	}
	if (end) /* classes without names have the place of their definition behind it */
		owner.bytes = (uint16_t)(end - t->owner);
	put_text(to, &owner, t->owner);
	if (owner.bytes)
		dw_buf_puts(to, "::");
	put_text(to, &t->head.name, t->name);
}

/* The function of @t: its id and module. */
static int declare(struct dw_interpreters *all, const struct dw_interpreter_process *p,
		   const struct told *t, uint32_t *ret, uint32_t *ret_module)
{
	dw_auto(dw_buf) name = DW_BUF_INIT;
	dw_auto(dw_buf) file = DW_BUF_INIT;
	struct dw_jit_declaration d;
	const char *path;
	char none[16];
	int rc;

	put_text(&file, &t->head.file, t->file);
	snprintf(none, sizeof none, "[%s]", dw_language_name(p->told.language));
	path = file.len ? dw_buf_str(&file) : none;
	put_name(&name, t, path);
	if (name.failed || file.failed)
		return -ENOMEM;
	d = (struct dw_jit_declaration){.module_path = path,
					.module_name = module_name(path),
					.name = name.len ? dw_buf_str(&name) : "?",
					.file = file.len ? path : "",
					.line = t->head.first_line <= INT32_MAX ? t->head.first_line
										: 0};
	rc = dw_jit_functions_declare(&all->jit->functions, &d, ret);
	if (!rc)
		*ret_module = all->jit->functions.rows.v[*ret - 1].module;
	return rc;
}

static int add_line(struct dw_interpreters *all, uint32_t function, uint64_t svma, uint32_t line)
{
	return dw_jit_lines_add(&all->jit->lines,
				&(struct dw_jit_line){svma,
						      all->jit->functions.rows.v[function - 1].file,
						      line, 0});
}

/* Add the lines of @t, whose positions are instructions of Python, at @svma. */
static int add_table(struct dw_interpreters *all, const struct dw_interpreter_process *p,
		     const struct told *t, uint32_t function, uint64_t svma)
{
	struct dw_python_line_table table;
	struct dw_python_lines piece;
	uint32_t last = UINT32_MAX;
	int rc = 0;

	dw_python_line_table_init(&table, p->told.version, t->lines, t->head.lines_bytes,
				  t->head.code_bytes, t->head.first_line);
	while (!rc && dw_python_line_table_next(&table, &piece)) {
		if (piece.line != last)
			rc = add_line(all, function, dw_jit_functions_inside(svma, piece.start),
				      piece.line);
		last = piece.line;
	}
	return rc;
}

/* Add the lines of @t, whose positions are at @svma. */
static int add_lines(struct dw_interpreters *all, const struct dw_interpreter_process *p,
		     const struct told *t, uint32_t function, uint64_t svma)
{
	int rc = 0;

	if (p->told.language == DWELL_PYTHON)
		return add_table(all, p, t, function, svma);
	if (t->head.first_line > INT32_MAX - DWELL_INTERPRETER_LINES_MAX)
		return 0;
	for (uint32_t i = 0; i < t->head.code_bytes && !rc; i++)
		rc = add_line(all, function, dw_jit_functions_inside(svma, i),
			      t->head.first_line + i);
	return rc;
}

/* Where the code of @t lies in the space of @function. */
static int place(struct dw_interpreters *all, const struct dw_interpreter_process *p,
		 const struct told *t, uint32_t function, uint64_t *ret)
{
	uint64_t key = dw_hash_bytes(t->lines, t->head.lines_bytes,
				     (uint64_t)function << 32 | t->head.code_bytes);
	uint32_t row = dw_map_get(&all->places, key);
	int rc;

	if (row && all->svmas.v[row - 1] >> 32 == function) {
		*ret = all->svmas.v[row - 1];
		return 0;
	}
	if (all->svmas.n >= DWELL_INTERPRETER_CODES_MAX)
		return DWELL_ERR_LIMIT;
	*ret = dw_jit_functions_place(&all->jit->functions, function, t->head.code_bytes + 2ull);
	rc = dw_vec_push(&all->svmas, *ret);
	if (!rc)
		rc = dw_map_put(&all->places, key, (uint32_t)all->svmas.n);
	return rc ? rc : add_lines(all, p, t, function, *ret);
}

const char *dw_language_name(uint32_t language)
{
	static const char *const names[DWELL_LANGUAGES_END] = {
		[DWELL_PYTHON] = "python", [DWELL_PHP] = "php", [DWELL_RUBY] = "ruby"};

	return names[language];
}

struct dw_interpreter_process *dw_interpreter_begin(const struct dw_interpreter_runtime *told)
{
	struct dw_interpreter_process *p = calloc(1, sizeof *p);

	if (!p)
		return NULL;
	p->told = *told;
	p->is_known = told->version;
	return p;
}

int dw_interpreter_place(struct dw_interpreter_process *p, const struct dw_elf *elf, uint64_t bias)
{
	p->is_placed = true;
	p->bias = bias;
	return elf ? dw_interpreter_eval_find(elf, p->told.eval - bias, &p->eval) : 0;
}

int dw_interpreter_tell(struct dw_interpreters *all, struct dw_interpreter_process *p,
			const uint8_t *record, size_t n)
{
	struct dw_interpreter_told row = {0};
	uint32_t function, known;
	struct told t;
	int rc;

	if (!check(p, record, n, &t))
		return DWELL_ERR_FORMAT;
	known = dw_map_get(&p->by_code, t.head.code);
	if (!known && p->codes.n >= DWELL_INTERPRETER_CODES_MAX)
		return 0;
	rc = declare(all, p, &t, &function, &row.module);
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

bool dw_interpreter_frame(const struct dw_interpreter_process *p,
			  const struct dw_interpreter_frame *frame, struct dw_frame *ret)
{
	uint32_t row = dw_map_get(&p->by_code, frame->code & ~(uint64_t)DWELL_INTERPRETER_FLAGS);
	const struct dw_interpreter_told *t = row ? &p->codes.v[row - 1] : NULL;

	if (!t || t->seal != frame->seal)
		return false;
	*ret = (struct dw_frame){.module = t->module, .svma = t->svma};
	if (frame->position < t->bytes)
		ret->svma = dw_jit_functions_inside(t->svma, frame->position);
	return true;
}

void dw_interpreter_end(struct dw_interpreter_process *p)
{
	if (!p)
		return;
	dw_map_release(&p->by_code);
	dw_vec_release(&p->codes);
	dw_map_release(&p->threads.by_tid);
	dw_vec_release(&p->threads.states);
	free(p);
}

void dw_interpreter_release(struct dw_interpreters *all)
{
	dw_map_release(&all->places);
	dw_vec_release(&all->svmas);
}
