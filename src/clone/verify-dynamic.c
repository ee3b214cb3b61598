/*
 * The loader's relocations; see verify-dynamic.h.
 *
 * Everything is found as the loader finds it, through the dynamic section: sections are for
 * linkers, and in a damaged file may tell otherwise.
 */
#include "clone/verify-dynamic.h"

#include <assert.h>
#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Values of the dynamic section by tag. */
struct dynamic {
	uint64_t value[DT_JMPREL + 1];
};

/* By the place, with which both kinds of words begin. */
static int by_place(const void *a, const void *b)
{
	uint64_t x, y;

	static_assert(!offsetof(struct dw_verify_pointer, at), "first");
	static_assert(!offsetof(struct dw_verify_slot, at), "first");
	memcpy(&x, a, sizeof x);
	memcpy(&y, b, sizeof y);
	return (x > y) - (x < y);
}

static void read_values(const struct dw_verify *v, struct dynamic *ret)
{
	size_t n, left = 0;
	const struct dw_elf_segment *s = dw_elf_segments(v->elf, &n);
	const uint8_t *bytes = NULL;
	Elf64_Dyn entry;

	for (size_t i = 0; i < n && !bytes; i++) {
		if (s[i].type != PT_DYNAMIC)
			continue;
		bytes = dw_verify_module_bytes(v, s[i].svma.v, &left);
		if (left < s[i].file_bytes)
			bytes = NULL;
		left = s[i].file_bytes; /* no further, also without an end */
	}
	for (; bytes && left >= sizeof entry; bytes += sizeof entry, left -= sizeof entry) {
		memcpy(&entry, bytes, sizeof entry);
		if (entry.d_tag == DT_NULL)
			return;
		if (entry.d_tag > 0 && entry.d_tag <= DT_JMPREL)
			ret->value[entry.d_tag] = entry.d_un.d_val;
	}
}

/* Whether symbol @i is a function that switches stacks. */
static bool names_switch(const struct dw_verify *v, const struct dynamic *d, uint64_t i)
{
	static const char all[] =
		" swapcontext setcontext jump_fcontext ontop_fcontext co_switch coro_transfer ";
	size_t left = 0;
	const uint8_t *bytes =
		dw_verify_module_bytes(v, d->value[DT_SYMTAB] + i * sizeof(Elf64_Sym), &left);
	char word[32];
	Elf64_Sym sym;

	if (!i || !bytes || left < sizeof sym)
		return false;
	memcpy(&sym, bytes, sizeof sym);
	bytes = dw_verify_module_bytes(v, d->value[DT_STRTAB] + sym.st_name, &left);
	if (!bytes || !memchr(bytes, 0, left))
		return false;
	snprintf(word, sizeof word, " %.28s ", (const char *)bytes);
	return strstr(all, word);
}

static int add_relocation(struct dw_verify *v, const struct dynamic *d, const Elf64_Rela *r)
{
	struct dw_verify_pointer pointer = {r->r_offset, (uint64_t)r->r_addend};
	struct dw_verify_slot slot = {.at = r->r_offset};

	switch (ELF64_R_TYPE(r->r_info)) {
	case R_X86_64_RELATIVE:
	case R_X86_64_IRELATIVE:
		return dw_vec_push(&v->pointers, pointer);
	case R_X86_64_GLOB_DAT:
	case R_X86_64_JUMP_SLOT:
		slot.switches = names_switch(v, d, ELF64_R_SYM(r->r_info));
		return dw_vec_push(&v->slots, slot);
	}
	return 0;
}

/* Take in the table of @n bytes at @svma. */
static int add_table(struct dw_verify *v, const struct dynamic *d, uint64_t svma, uint64_t n)
{
	size_t left = 0;
	const uint8_t *bytes = dw_verify_module_bytes(v, svma, &left);
	Elf64_Rela r;
	int rc = 0;

	if (n > left)
		return 0;
	for (uint64_t at = 0; bytes && n - at >= sizeof r && !rc; at += sizeof r) {
		memcpy(&r, bytes + at, sizeof r);
		rc = add_relocation(v, d, &r);
	}
	return rc;
}

int dw_verify_dynamic(struct dw_verify *v)
{
	struct dynamic d = {{0}};
	int rc;

	read_values(v, &d);
	rc = add_table(v, &d, d.value[DT_RELA], d.value[DT_RELASZ]);
	if (!rc)
		rc = add_table(v, &d, d.value[DT_JMPREL], d.value[DT_PLTRELSZ]);
	if (v->pointers.n)
		qsort(v->pointers.v, v->pointers.n, sizeof *v->pointers.v, by_place);
	if (v->slots.n)
		qsort(v->slots.v, v->slots.n, sizeof *v->slots.v, by_place);
	return rc;
}
