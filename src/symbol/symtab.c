/*
 * ELF symbol tables; see symtab.h. Sizes overlap in real files (aliases, labels inside functions
 * written in assembly), so a lookup goes back from the address as long as some earlier symbol
 * reaches it, with a limit of steps. gABI, chapter "Symbol Table".
 */
#include "symbol/symtab.h"

#include "base/cleanup.h"
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
