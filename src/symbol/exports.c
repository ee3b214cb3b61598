/*
 * Exports; see exports.h. Sections, not the dynamic segment: modules that run have both, and files
 * without section headers go without names here as elsewhere. System V ABI, "Symbol Table"; LSB,
 * "Symbol Versioning" (bit 15 of a version hides it).
 */
#include "symbol/exports.h"

#include "base/cleanup.h"

#include <elf.h>
#include <errno.h>
#include <string.h>

#define VERSION_HIDDEN 0x8000

/* A section's bytes; NULL and 0 when there are none. */
static uint8_t *read_named(const struct dw_elf *elf, const char *name, size_t *n)
{
	const struct dw_elf_section *s = dw_elf_section(elf, name);
	uint8_t *bytes = NULL;

	*n = 0;
	if (s && s->type != SHT_NOBITS)
		(void)dw_elf_read_section(elf, s, &bytes, n, NULL);
	return bytes;
}

static bool is_function(const Elf64_Sym *s)
{
	unsigned type = ELF64_ST_TYPE(s->st_info);

	return s->st_shndx != SHN_UNDEF && s->st_value && ELF64_ST_BIND(s->st_info) != STB_LOCAL &&
	       (type == STT_FUNC || type == STT_GNU_IFUNC || type == STT_NOTYPE);
}

static int compare(const void *pa, const void *pb)
{
	const struct dw_export *a = pa, *b = pb;
	int rc = strcmp(a->name, b->name);

	if (!rc)
		rc = a->is_hidden - b->is_hidden;
	return rc ? rc : (a->svma > b->svma) - (a->svma < b->svma);
}

int dw_exports_load(struct dw_exports *t, const struct dw_elf *elf)
{
	size_t names_n, symbols_n, versions_n;
	dw_auto_free uint8_t *symbols = read_named(elf, ".dynsym", &symbols_n);
	dw_auto_free uint8_t *versions = read_named(elf, ".gnu.version", &versions_n);

	t->names = (char *)read_named(elf, ".dynstr", &names_n);
	for (size_t i = 0; i < symbols_n / sizeof(Elf64_Sym); i++) {
		struct dw_export row;
		Elf64_Sym s;
		uint16_t version = 0;

		memcpy(&s, symbols + i * sizeof s, sizeof s);
		if (!is_function(&s) || s.st_name >= names_n)
			continue;
		if ((i + 1) * sizeof version <= versions_n)
			memcpy(&version, versions + i * sizeof version, sizeof version);
		row = (struct dw_export){t->names + s.st_name, s.st_value,
					 version & VERSION_HIDDEN};
		if (dw_vec_push(&t->rows, row))
			return -ENOMEM;
	}
	if (t->rows.n)
		qsort(t->rows.v, t->rows.n, sizeof *t->rows.v, compare);
	return 0;
}

int dw_exports_find(const struct dw_exports *t, const char *name, uint64_t *ret)
{
	size_t low = 0, high = t->rows.n;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (strcmp(t->rows.v[middle].name, name) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	if (low == t->rows.n || strcmp(t->rows.v[low].name, name))
		return DWELL_ERR_NOT_FOUND;
	*ret = t->rows.v[low].svma;
	return 0;
}

void dw_exports_release(struct dw_exports *t)
{
	dw_vec_release(&t->rows);
	free(t->names);
	t->names = NULL;
}
