/*
 * Imports of modules; see hazards-imports.h. Names are looked for among the undefined dynamic
 * symbols: the C library itself defines these functions.
 */
#include "clone/hazards-imports.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>

struct symbols {
	uint8_t *entries; /* Elf64_Sym, unaligned */
	size_t entries_bytes;
	char *names; /* one NUL behind */
	size_t names_bytes;
};

static bool read(const struct dw_clone_module *m, const char *section, uint8_t **ret, size_t *ret_n)
{
	const struct dw_elf_section *s = dw_elf_section(m->elf, section);

	return s && !dw_elf_read_section(m->elf, s, ret, ret_n, NULL);
}

static bool is_counter(const char *name)
{
	return !strcmp(name, "mcount") || !strcmp(name, "_mcount") || !strcmp(name, "__fentry__");
}

static bool imports_counter(const struct symbols *s)
{
	Elf64_Sym symbol;

	for (size_t at = 0; s->entries_bytes - at >= sizeof symbol; at += sizeof symbol) {
		memcpy(&symbol, s->entries + at, sizeof symbol);
		if (symbol.st_shndx == SHN_UNDEF && symbol.st_name < s->names_bytes &&
		    is_counter(s->names + symbol.st_name))
			return true;
	}
	return false;
}

bool dw_counts_itself(const struct dw_clone_module *m)
{
	struct symbols s = {0};
	bool ret = read(m, ".dynsym", &s.entries, &s.entries_bytes) &&
		   read(m, ".dynstr", (uint8_t **)&s.names, &s.names_bytes) && imports_counter(&s);

	free(s.entries);
	free(s.names);
	return ret;
}
