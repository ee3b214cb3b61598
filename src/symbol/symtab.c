/*
 * Symbol tables; see symtab.h. Sizes overlap in real files (aliases, labels inside functions
 * written in assembly), so a lookup goes back from the address as long as some earlier symbol
 * reaches it, with a limit of steps. gABI, chapter "Symbol Table".
 *
 * Go's: pcHeader, functab and _func in symtab.go of Go's
 * runtime, and pclntab.go of its debug/gosym. All distances of functions are from the start of the
 * code, those of the parts from the start of the table.
 */
#include "symbol/symtab.h"

#include "base/cleanup.h"
#include "base/cursor.h"
#include "base/vec.h"

#include <elf.h>
#include <errno.h>
#include <string.h>

enum { STEPS_BACK_MAX = 512 };

/* The section that holds the code of @sym, NULL when it is no symbol in code. */
static const struct dw_elf_section *section_of(const struct dw_elf *elf, const Elf64_Sym *sym)
{
	size_t n;
	const struct dw_elf_section *sections = dw_elf_sections(elf, &n);
	unsigned type = ELF64_ST_TYPE(sym->st_info);

	if (type != STT_FUNC && type != STT_GNU_IFUNC && type != STT_NOTYPE)
		return NULL;
	if (sym->st_shndx == SHN_UNDEF || sym->st_shndx >= n)
		return NULL;
	return sections[sym->st_shndx].flags & SHF_EXECINSTR ? &sections[sym->st_shndx] : NULL;
}

static uint8_t binding_of(const Elf64_Sym *sym)
{
	switch (ELF64_ST_BIND(sym->st_info)) {
	case STB_GLOBAL:
	case STB_GNU_UNIQUE:
		return 0;
	case STB_WEAK:
		return 1;
	}
	return 2;
}

static uint64_t end_of_section(const struct dw_elf *elf, const struct dw_elf_section *s)
{
	const struct dw_elf_segment *segments;
	uint64_t end = s->svma.v + s->bytes;
	size_t n;

	/* In a debug file code sections have no bytes of their own: the segment bounds them. */
	if (s->bytes)
		return end;
	segments = dw_elf_segments(elf, &n);
	for (size_t i = 0; i < n; i++) {
		if (segments[i].type == PT_LOAD && s->svma.v >= segments[i].svma.v &&
		    s->svma.v - segments[i].svma.v < segments[i].memory_bytes)
			return segments[i].svma.v + segments[i].memory_bytes;
	}
	return end;
}

static int add_symbol(struct dw_symtab *t, const struct dw_elf *elf, const Elf64_Sym *sym,
		      const char *name)
{
	const struct dw_elf_section *section = section_of(elf, sym);
	struct dw_symbol s = {.svma = sym->st_value, .bytes = sym->st_size, .name = name};

	if (!section || !*name || s.svma + s.bytes < s.svma)
		return 0;
	s.limit = end_of_section(elf, section);
	s.binding = binding_of(sym);
	s.is_function = ELF64_ST_TYPE(sym->st_info) != STT_NOTYPE;
	return dw_vec_push(&t->rows, s);
}

int dw_symtab_add(struct dw_symtab *t, const struct dw_elf *elf, const char *section,
		  const char *names)
{
	const struct dw_elf_section *symbols = dw_elf_section(elf, section);
	const struct dw_elf_section *strings = dw_elf_section(elf, names);
	dw_auto_free uint8_t *bytes = NULL, *text = NULL;
	size_t bytes_n, text_n;
	int rc;

	if (!symbols || !strings || symbols->type == SHT_NOBITS || strings->type == SHT_NOBITS)
		return DWELL_ERR_NOT_FOUND;
	rc = dw_elf_read_section(elf, symbols, &bytes, &bytes_n, NULL);
	if (!rc)
		rc = dw_elf_read_section(elf, strings, &text, &text_n, NULL);
	if (!rc)
		rc = dw_vec_push(&t->names, (char *)text);
	if (rc)
		return rc;
	const char *base = (const char *)dw_take_ptr(text);
	for (size_t i = 0; i < bytes_n / sizeof(Elf64_Sym); i++) {
		Elf64_Sym sym;

		memcpy(&sym, bytes + i * sizeof sym, sizeof sym);
		if (sym.st_name < text_n && add_symbol(t, elf, &sym, base + sym.st_name))
			return -ENOMEM;
	}
	return 0;
}

static int compare_addresses(const struct dw_symbol *a, const struct dw_symbol *b)
{
	return (a->svma > b->svma) - (a->svma < b->svma);
}

/* foo@VERSION is for programs that were linked long ago, foo@@VERSION or foo for all. */
static bool is_outdated(const char *name)
{
	const char *at = strchr(name, '@');

	return at && at[1] != '@';
}

/* The order of symtab.h: the best name of an address comes first. */
static int compare(const void *pa, const void *pb)
{
	const struct dw_symbol *a = pa, *b = pb;
	int rc = compare_addresses(a, b);

	if (!rc)
		rc = a->binding - b->binding;
	if (!rc)
		rc = b->is_function - a->is_function;
	if (!rc)
		rc = is_outdated(a->name) - is_outdated(b->name);
	if (!rc)
		rc = (int)(strspn(a->name, "_") > strspn(b->name, "_")) -
		     (int)(strspn(a->name, "_") < strspn(b->name, "_"));
	return rc ? rc : strcmp(a->name, b->name);
}

static uint64_t end_at(const struct dw_symtab *t, size_t i)
{
	const struct dw_symbol *s = &t->rows.v[i];
	uint64_t end = s->limit;

	if (s->bytes)
		return s->svma + s->bytes;
	if (i + 1 < t->rows.n && t->rows.v[i + 1].svma < end)
		end = t->rows.v[i + 1].svma;
	return end;
}

void dw_symtab_sort(struct dw_symtab *t)
{
	struct dw_symbol *v = t->rows.v;
	uint64_t reach = 0;
	size_t n = 0;

	if (!t->rows.n)
		return;
	qsort(v, t->rows.n, sizeof *v, compare);
	for (size_t i = 0; i < t->rows.n; i++) {
		if (n && v[n - 1].svma == v[i].svma) {
			/* What an alias tells of the size holds for the chosen name too. */
			if (!v[n - 1].bytes)
				v[n - 1].bytes = v[i].bytes;
			v[n - 1].is_function |= v[i].is_function;
		} else {
			v[n++] = v[i];
		}
	}
	t->rows.n = n;
	for (size_t i = 0; i < n; i++) {
		uint64_t end = end_at(t, i);

		v[i].reach = reach = end > reach ? end : reach;
	}
}

/* Index of the first symbol behind @svma. */
static size_t upper_bound(const struct dw_symtab *t, uint64_t svma)
{
	return dw_sorted_count(t->rows.v, t->rows.n, s, s->svma <= svma);
}

const struct dw_symbol *dw_symtab_find(const struct dw_symtab *t, uint64_t svma)
{
	const struct dw_symbol *label = NULL;
	size_t i = upper_bound(t, svma);

	for (int steps = 0; i-- > 0 && steps < STEPS_BACK_MAX; steps++) {
		const struct dw_symbol *s = &t->rows.v[i];

		if (s->reach <= svma)
			break;
		if (svma >= end_at(t, i))
			continue;
		if (s->bytes && s->is_function)
			return s;
		if (!label)
			label = s;
	}
	return label;
}

uint64_t dw_symtab_end(const struct dw_symtab *t, const struct dw_symbol *s)
{
	return end_at(t, (size_t)(s - t->rows.v));
}

void dw_symtab_release(struct dw_symtab *t)
{
	dw_vec_each(names, &t->names)
		free(*names);
	dw_vec_release(&t->names);
	dw_vec_release(&t->rows);
}

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
	struct go_table g = {0};
	dw_auto_free uint8_t *bytes = dw_elf_read_named(elf, ".gopclntab", &g.n);
	const struct dw_elf_section *text;
	int rc;

	if (!bytes)
		bytes = dw_elf_read_named(elf, ".data.rel.ro.gopclntab", &g.n);
	if (!bytes)
		return DWELL_ERR_NOT_FOUND;
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
