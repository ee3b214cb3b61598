/*
 * Go's function table; see go-table.h. Its layout: pcHeader, functab and _func in symtab.go of Go's
 * runtime, and pclntab.go of its debug/gosym. All distances of functions are from the start of the
 * code, those of the parts from the start of the table.
 */
#include "symbol/go-table.h"

#include "base/cleanup.h"
#include "base/cursor.h"

#include <elf.h>
#include <string.h>

enum {
	MAGIC_1_18 = 0xfffffff0u,
	MAGIC_1_20 = 0xfffffff1u,
	POINTER_BYTES = 8,
	ROW_BYTES = 8, /* of the function table: distance of the code, and of struct _func */
};

struct go_table {
	const uint8_t *bytes; /* with a NUL behind the last */
	size_t n;
	uint64_t functions; /* number */
	uint64_t text;	    /* svma of the code */
	uint64_t names_at, rows_at;
};

static int read_header(struct go_table *g)
{
	struct dw_cursor c;
	uint32_t magic;

	dw_cursor_init(&c, g->bytes, g->n);
	magic = dw_cursor_u32(&c);
	if (magic != MAGIC_1_18 && magic != MAGIC_1_20)
		return DWELL_ERR_NOT_FOUND;
	dw_cursor_skip(&c, 3); /* padding, and the least size of an instruction */
	if (dw_cursor_u8(&c) != POINTER_BYTES)
		return DWELL_ERR_FORMAT;
	g->functions = dw_cursor_u64(&c);
	dw_cursor_skip(&c, 8); /* number of files */
	g->text = dw_cursor_u64(&c);
	g->names_at = dw_cursor_u64(&c);
	dw_cursor_skip(&c, 3 * 8); /* units, files, lines */
	g->rows_at = dw_cursor_u64(&c);
	if (c.failed || g->names_at >= g->n || g->rows_at >= g->n ||
	    g->functions > (g->n - g->rows_at) / ROW_BYTES)
		return DWELL_ERR_FORMAT;
	return 0;
}

/* The word at @at, which the table need not hold: then *@failed. */
static uint32_t word_at(const struct go_table *g, uint64_t at, bool *failed)
{
	struct dw_cursor c;
	uint32_t word;

	dw_cursor_init(&c, g->bytes, g->n);
	dw_cursor_seek(&c, at);
	word = dw_cursor_u32(&c);
	*failed |= c.failed;
	return word;
}

/* Function @i, whose code lies in the section @text. False: it is broken. */
static bool read_function(const struct go_table *g, uint64_t i, const struct dw_elf_section *text,
			  struct dw_symbol *ret)
{
	uint64_t row = g->rows_at + i * ROW_BYTES, end = text->svma.v + text->bytes;
	bool failed = false;
	uint32_t from = word_at(g, row, &failed), to = word_at(g, row + ROW_BYTES, &failed);
	uint64_t info = g->rows_at + word_at(g, row + 4, &failed);
	uint64_t name = g->names_at + word_at(g, info + 4, &failed);

	*ret = (struct dw_symbol){
		.svma = g->text + from, .bytes = to - from, .limit = end, .is_function = true};
	if (failed || from >= to || g->text + to > end || name >= g->n || !g->bytes[name])
		return false;
	ret->name = (const char *)g->bytes + name;
	return true;
}

/* The section of code that holds @svma, NULL = none. */
static const struct dw_elf_section *code_at(const struct dw_elf *elf, uint64_t svma)
{
	size_t n;
	const struct dw_elf_section *v = dw_elf_sections(elf, &n);

	for (size_t i = 0; i < n; i++)
		if (v[i].flags & SHF_EXECINSTR && svma - v[i].svma.v < v[i].bytes)
			return &v[i];
	return NULL;
}

int dw_go_table_add(struct dw_symtab *t, const struct dw_elf *elf)
{
	const struct dw_elf_section *section = dw_elf_section(elf, ".gopclntab"), *text;
	dw_auto_free uint8_t *bytes = NULL;
	struct go_table g = {0};
	int rc;

	if (!section)
		section = dw_elf_section(elf, ".data.rel.ro.gopclntab");
	if (!section || section->type == SHT_NOBITS)
		return DWELL_ERR_NOT_FOUND;
	rc = dw_elf_read_section(elf, section, &bytes, &g.n, NULL);
	if (rc)
		return rc;
	g.bytes = bytes;
	rc = read_header(&g);
	text = rc ? NULL : code_at(elf, g.text);
	if (!rc && !text) /* one that the loader fills in */
		rc = DWELL_ERR_NOT_FOUND;
	if (!rc)
		rc = dw_vec_push(&t->names, (char *)bytes);
	if (rc)
		return rc;
	(void)dw_take_ptr(bytes);
	for (uint64_t i = 0; i < g.functions && !rc; i++) {
		struct dw_symbol s;

		if (read_function(&g, i, text, &s))
			rc = dw_vec_push(&t->rows, s);
	}
	return rc;
}
