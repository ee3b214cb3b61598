/*
 * Names of personality routines; see personality.h. Routines of other modules are named by the
 * relocation that fills the word through which the table refers to them.
 */
#include "clone/personality.h"

#include "base/cleanup.h"

#include <elf.h>
#include <string.h>

static const char *const known[] = {
	"__gxx_personality_v0",	 "__gcc_personality_v0",      "__gnat_personality_v0",
	"__gdc_personality_v0",	 "__gccgo_personality_v0",    "rust_eh_personality",
	"__objc_personality_v0", "__gnu_objc_personality_v0", "_d_eh_personality",
	"__gm2_personality_v0",	 "__gcj_personality_v0",
};

static bool is_known(const char *name)
{
	for (size_t i = 0; i < sizeof known / sizeof *known; i++)
		if (!strcmp(known[i], name))
			return true;
	return false;
}

/* Whether the name of symbol @i of the dynamic symbol table is a known one, or cannot be read. */
static bool symbol_is_known(const struct dw_elf *elf, uint64_t i)
{
	const struct dw_elf_section *symbols = dw_elf_section(elf, ".dynsym");
	const struct dw_elf_section *strings = dw_elf_section(elf, ".dynstr");
	dw_auto_free uint8_t *symbol_bytes = NULL, *string_bytes = NULL;
	size_t symbols_n, strings_n;
	Elf64_Sym symbol;

	if (!i || !symbols || !strings ||
	    dw_elf_read_section(elf, symbols, &symbol_bytes, &symbols_n, NULL) ||
	    dw_elf_read_section(elf, strings, &string_bytes, &strings_n, NULL) ||
	    i >= symbols_n / sizeof symbol)
		return true;
	memcpy(&symbol, symbol_bytes + i * sizeof symbol, sizeof symbol);
	return symbol.st_name >= strings_n || is_known((const char *)string_bytes + symbol.st_name);
}

/* Look for the relocation of @svma in @section. 1: found, *@symbol is its symbol's number. */
static int find_relocation(const struct dw_elf *elf, const struct dw_elf_section *section,
			   uint64_t svma, uint64_t *symbol)
{
	dw_auto_free uint8_t *bytes = NULL;
	size_t n;
	Elf64_Rela r;

	if (dw_elf_read_section(elf, section, &bytes, &n, NULL))
		return 0;
	for (size_t at = 0; n - at >= sizeof r && at < n; at += sizeof r) {
		memcpy(&r, bytes + at, sizeof r);
		if (r.r_offset == svma) {
			*symbol = ELF64_R_SYM(r.r_info);
			return 1;
		}
	}
	return 0;
}

bool dw_personality_is_known(const struct dw_elf *elf, uint64_t svma)
{
	size_t n;
	const struct dw_elf_section *s = dw_elf_sections(elf, &n);
	uint64_t symbol;

	for (size_t i = 0; i < n; i++)
		if (s[i].type == SHT_RELA && s[i].flags & SHF_ALLOC &&
		    find_relocation(elf, &s[i], svma, &symbol))
			return symbol_is_known(elf, symbol);
	return true;
}
