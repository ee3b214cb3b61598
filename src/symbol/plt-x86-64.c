/*
 * PLT stubs; see plt.h. A stub is [endbr64] [bnd] jmp *disp(%rip): the pointer's address leads to
 * the relocation that fills it, and that to the name. Stubs take 16 bytes, those of .plt.got
 * without CET 8. The first half of a lazy CET stub (push, jmp) has no such jump and gets no name.
 * System V ABI x86-64, "Procedure Linkage Table".
 */
#include "symbol/plt.h"

#include "base/cleanup.h"

#include <elf.h>
#include <errno.h>
#include <string.h>

const struct dw_elf_section *dw_plt_section(const struct dw_elf *elf, uint64_t svma)
{
	size_t n;
	const struct dw_elf_section *s = dw_elf_sections(elf, &n);

	for (size_t i = 0; i < n; i++)
		if (!strncmp(s[i].name, ".plt", 4) && s[i].flags & SHF_EXECINSTR &&
		    svma - s[i].svma.v < s[i].bytes)
			return &s[i];
	return NULL;
}

struct dynamic_symbols {
	uint8_t *symbols; /* owned */
	size_t symbols_n;
	size_t names_n;
};

static int add_slots(struct dw_plt *t, const struct dynamic_symbols *d, const uint8_t *bytes,
		     size_t n)
{
	for (size_t i = 0; i < n / sizeof(Elf64_Rela); i++) {
		Elf64_Rela rela;
		Elf64_Sym sym;
		size_t at;

		memcpy(&rela, bytes + i * sizeof rela, sizeof rela);
		at = (size_t)ELF64_R_SYM(rela.r_info) * sizeof sym;
		if (ELF64_R_TYPE(rela.r_info) != R_X86_64_JUMP_SLOT &&
		    ELF64_R_TYPE(rela.r_info) != R_X86_64_GLOB_DAT)
			continue;
		if (at + sizeof sym > d->symbols_n)
			continue;
		memcpy(&sym, d->symbols + at, sizeof sym);
		if (sym.st_name >= d->names_n || !t->names[sym.st_name])
			continue;
		if (dw_vec_push(&t->slots,
				(struct dw_plt_slot){rela.r_offset, t->names + sym.st_name}))
			return -ENOMEM;
	}
	return 0;
}

static int compare_slots(const void *pa, const void *pb)
{
	const struct dw_plt_slot *a = pa, *b = pb;

	return (a->got > b->got) - (a->got < b->got);
}

int dw_plt_load(struct dw_plt *t, const struct dw_elf *elf)
{
	static const char *const sections[] = {".rela.plt", ".rela.dyn"};
	struct dynamic_symbols d;
	int rc = 0;

	t->names = (char *)dw_elf_read_named(elf, ".dynstr", &d.names_n);
	d.symbols = dw_elf_read_named(elf, ".dynsym", &d.symbols_n);
	for (size_t i = 0; i < 2 && !rc; i++) {
		size_t n;
		dw_auto_free uint8_t *bytes = dw_elf_read_named(elf, sections[i], &n);

		rc = add_slots(t, &d, bytes, n);
	}
	free(d.symbols);
	if (t->slots.n)
		qsort(t->slots.v, t->slots.n, sizeof *t->slots.v, compare_slots);
	return rc;
}

/* Where the code in @b, at @svma, jumps through: *@ret. False when it is no stub. */
static bool decode_jump(const uint8_t b[16], uint64_t svma, uint64_t *ret)
{
	size_t at = 0;
	int32_t disp;

	if (!memcmp(b, "\xf3\x0f\x1e\xfa", 4))
		at = 4;
	at += b[at] == 0xf2;
	if (b[at] != 0xff || b[at + 1] != 0x25)
		return false;
	memcpy(&disp, b + at + 2, sizeof disp);
	*ret = svma + at + 6 + (uint64_t)(int64_t)disp;
	return true;
}

const char *dw_plt_slot_name(const struct dw_plt *t, uint64_t got)
{
	struct dw_plt_slot key = {.got = got}, *slot = NULL;

	if (t->slots.n)
		slot = bsearch(&key, t->slots.v, t->slots.n, sizeof key, compare_slots);
	return slot ? slot->name : NULL;
}

int dw_plt_find(const struct dw_plt *t, const struct dw_elf *elf,
		const struct dw_elf_section *section, uint64_t svma, struct dw_plt_stub *ret)
{
	uint64_t bytes = !strcmp(section->name, ".plt.got") && section->bytes % 16 ? 8 : 16;
	const char *name;
	uint64_t got;
	uint8_t code[16] = {0};

	svma -= (svma - section->svma.v) % bytes;
	if (dw_elf_read_svma(elf, (struct dw_svma){svma}, code, bytes) ||
	    !decode_jump(code, svma, &got))
		return DWELL_ERR_NOT_FOUND;
	name = dw_plt_slot_name(t, got);
	if (!name)
		return DWELL_ERR_NOT_FOUND;
	*ret = (struct dw_plt_stub){name, svma, bytes};
	return 0;
}

void dw_plt_release(struct dw_plt *t)
{
	dw_vec_release(&t->slots);
	free(t->names);
	t->names = NULL;
}
