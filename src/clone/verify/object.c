/*
 * The object for debuggers (struct dw_clone_object): what they will read of it lies in the image,
 * and each symbol is that of a clone or of the trampolines. Names are not compared with the
 * module's: they are told to people only.
 */
#include "clone/trampolines/trampolines.h"
#include "clone/verify/state.h"

#include <elf.h>
#include <string.h>

enum { RUNS = 2 }; /* in which symbols rise: those with the module's names, then all others */

/* The object as it lies in the area. */
struct object {
	const struct dw_verify *v;
	struct dw_clone_object head;
	const uint8_t *bytes; /* from its start to the area's end */
	uint64_t n;
};

static bool is_head(const Elf64_Ehdr *h)
{
	return !memcmp(h->e_ident, ELFMAG, SELFMAG) && h->e_ident[EI_CLASS] == ELFCLASS64 &&
	       h->e_ident[EI_DATA] == ELFDATA2LSB && h->e_type == ET_REL &&
	       h->e_machine == EM_X86_64 && h->e_shoff == sizeof *h && !h->e_phnum &&
	       h->e_ehsize == sizeof *h && h->e_shentsize == sizeof(Elf64_Shdr) &&
	       h->e_shnum == DWELL_CLONE_SECTIONS && h->e_shstrndx == DWELL_CLONE_SECTION_NAMES;
}

/* Whether section @i has the type @type and lies in the object. */
static bool is_section(const struct object *o, int i, uint32_t type)
{
	const Elf64_Shdr *s = &o->head.sections[i];

	return s->sh_type == type && s->sh_offset <= o->n && s->sh_size <= o->n - s->sh_offset;
}

static bool is_code(const struct object *o)
{
	const Elf64_Shdr *s = &o->head.sections[DWELL_CLONE_SECTION_TEXT];

	return s->sh_type == SHT_NOBITS && s->sh_flags == (SHF_ALLOC | SHF_EXECINSTR) &&
	       !s->sh_addr && s->sh_size == o->v->h.code_at + (uint64_t)o->v->h.code_bytes;
}

static bool is_unwind_table(const struct object *o)
{
	const Elf64_Shdr *s = &o->head.sections[DWELL_CLONE_SECTION_EH_FRAME];
	const uint64_t start = (uint64_t)(o->bytes - o->v->area);

	if (!o->v->h.eh_frame_at)
		return s->sh_type == SHT_NULL;
	return is_section(o, DWELL_CLONE_SECTION_EH_FRAME, SHT_PROGBITS) &&
	       s->sh_flags == SHF_ALLOC && s->sh_addr == o->v->h.eh_frame_at &&
	       s->sh_size == o->v->h.eh_frame_bytes && s->sh_offset + start == s->sh_addr;
}

/* Whether section @i is a table of strings, of which the last one ends. */
static bool is_strings(const struct object *o, int i)
{
	const Elf64_Shdr *s = &o->head.sections[i];

	return is_section(o, i, SHT_STRTAB) && s->sh_size && !s->sh_flags &&
	       !o->bytes[s->sh_offset + s->sh_size - 1];
}

static bool is_table(const struct object *o)
{
	const Elf64_Shdr *s = &o->head.sections[DWELL_CLONE_SECTION_SYMTAB];

	return is_section(o, DWELL_CLONE_SECTION_SYMTAB, SHT_SYMTAB) && s->sh_size &&
	       s->sh_link == DWELL_CLONE_SECTION_STRTAB && s->sh_entsize == sizeof(Elf64_Sym) &&
	       s->sh_size % sizeof(Elf64_Sym) == 0 &&
	       s->sh_info == s->sh_size / sizeof(Elf64_Sym) && !s->sh_flags;
}

/* Whether @sym is of the first clone of those from function *@next on that begins there or behind;
 * *@next is then the function behind. */
static bool is_of_clone(const struct dw_verify *v, const Elf64_Sym *sym, size_t *next)
{
	const struct dw_verify_function *f;

	while (*next < v->functions.n && v->functions.v[*next].clone_at < sym->st_value)
		++*next;
	if (*next == v->functions.n)
		return false;
	f = &v->functions.v[(*next)++];
	return f->clone_at == sym->st_value && f->clone_end - f->clone_at == sym->st_size;
}

/* Whether @sym is well made, and the trampolines' or a clone's, *@next as for is_of_clone(). Those
 * stand between the module's names and all others. */
static bool is_symbol(const struct object *o, const Elf64_Sym *sym, size_t *next, uint32_t *runs)
{
	const struct dw_verify *v = o->v;

	if (sym->st_info != ELF64_ST_INFO(STB_LOCAL, STT_FUNC) || sym->st_other ||
	    sym->st_shndx != DWELL_CLONE_SECTION_TEXT || sym->st_value < v->h.code_at ||
	    sym->st_name >= o->head.sections[DWELL_CLONE_SECTION_STRTAB].sh_size)
		return false;
	if (sym->st_value != v->h.code_at || sym->st_size != dw_trampolines_bytes(v->h.probes))
		return is_of_clone(v, sym, next);
	*next = 0;
	return ++*runs <= RUNS;
}

/* Whether all symbols but the empty one are as they should be. */
static bool are_symbols(const struct object *o)
{
	const Elf64_Shdr *s = &o->head.sections[DWELL_CLONE_SECTION_SYMTAB];
	uint32_t runs = 1;
	size_t next = 0;
	Elf64_Sym sym;

	for (uint64_t at = sizeof sym; at < s->sh_size; at += sizeof sym) {
		memcpy(&sym, o->bytes + s->sh_offset + at, sizeof sym);
		if (!is_symbol(o, &sym, &next, &runs))
			return false;
	}
	return true;
}

void dw_verify_object(struct dw_verify *v)
{
	const uint64_t start = v->h.constants_at + DWELL_CLONE_OBJECT_OFFSET;
	struct object o = {.v = v, .bytes = v->area + start, .n = v->area_n - start};

	memcpy(&o.head, v->area + DWELL_CLONE_OBJECT_OFFSET, sizeof o.head);
	if (!is_head(&o.head.head) || !is_code(&o) || !is_unwind_table(&o) ||
	    o.head.sections[DWELL_CLONE_SECTION_EH_FRAME_HDR].sh_type != SHT_NULL ||
	    !is_strings(&o, DWELL_CLONE_SECTION_STRTAB) ||
	    !is_strings(&o, DWELL_CLONE_SECTION_NAMES) || !is_table(&o))
		dw_verify_find(v, v->start, DWELL_CLONE_OBJECT_OFFSET,
			       "the object for debuggers makes no sense");
	else if (!are_symbols(&o))
		dw_verify_find(v, v->start, DWELL_CLONE_OBJECT_OFFSET,
			       "a symbol for debuggers is no clone's");
}
