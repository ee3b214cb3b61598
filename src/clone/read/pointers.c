/*
 * Words of a module's data that hold addresses of code, its own or of symbols; see module.h.
 * Sources: gABI chapter 5 (dynamic section, DT_RELR), psABI x86-64 4.4.1 (relocation types).
 */
#include "clone/module.h"

#include "base/cleanup.h"
#include "base/cursor.h"
#include "base/vec.h"

#include <elf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#ifndef DT_RELR
enum { DT_RELRSZ = 35, DT_RELR = 36 };
#endif

/* Values of the dynamic section by tag. */
struct dynamic {
	uint64_t value[DT_RELR + 1];
};

static bool is_code(const struct dw_clone_module *m, uint64_t svma)
{
	dw_vec_each(s, &m->segments)
		if (s->flags & PF_X && svma - s->svma < s->n)
			return true;
	return false;
}

static int add(struct dw_clone_module *m, uint64_t at, uint64_t to, bool is_sure)
{
	struct dw_clone_pointer p = {at, to, is_sure};

	return is_code(m, to) ? dw_vec_push(&m->pointers, p) : 0;
}

static void read_dynamic(const struct dw_clone_module *m, struct dynamic *d)
{
	size_t n;
	const struct dw_elf_segment *s = dw_elf_segments(m->elf, &n);
	const uint8_t *bytes = NULL;
	struct dw_cursor c;
	size_t size = 0;

	for (size_t i = 0; i < n && !bytes; i++) {
		if (s[i].type == PT_DYNAMIC) {
			size = s[i].file_bytes;
			bytes = dw_clone_module_bytes(m, s[i].svma.v, size);
		}
	}
	dw_cursor_init(&c, bytes, bytes ? size : 0);
	while (dw_cursor_left(&c) >= sizeof(Elf64_Dyn)) {
		uint64_t tag = dw_cursor_u64(&c), value = dw_cursor_u64(&c);

		if (tag == DT_NULL)
			return;
		if (tag <= DT_RELR)
			d->value[tag] = value;
	}
}

/* The value of symbol @i, 0 = undefined or no such symbol. */
static uint64_t symbol_value(const struct dw_clone_module *m, uint64_t symtab, uint64_t i)
{
	const uint8_t *bytes =
		dw_clone_module_bytes(m, symtab + i * sizeof(Elf64_Sym), sizeof(Elf64_Sym));
	Elf64_Sym sym;

	if (!bytes)
		return 0;
	memcpy(&sym, bytes, sizeof sym);
	return sym.st_shndx == SHN_UNDEF || sym.st_shndx == SHN_ABS ? 0 : sym.st_value;
}

/* The name of symbol @i, NULL = unknown. */
static const char *symbol_name(const struct dw_clone_module *m, const struct dynamic *d, uint64_t i)
{
	const uint8_t *bytes = dw_clone_module_bytes(m, d->value[DT_SYMTAB] + i * sizeof(Elf64_Sym),
						     sizeof(Elf64_Sym));
	Elf64_Sym sym;

	if (!bytes || !i)
		return NULL;
	memcpy(&sym, bytes, sizeof sym);
	dw_vec_each(s, &m->segments) {
		uint64_t at = d->value[DT_STRTAB] + sym.st_name - s->svma;

		if (at < s->n)
			return memchr(s->bytes + at, 0, s->n - at) ? (const char *)s->bytes + at
								   : NULL;
	}
	return NULL;
}

static int add_slot(struct dw_clone_module *m, const struct dynamic *d, const Elf64_Rela *r)
{
	struct dw_clone_slot slot = {r->r_offset, symbol_name(m, d, ELF64_R_SYM(r->r_info))};

	return dw_vec_push(&m->slots, slot);
}

static int read_rela(struct dw_clone_module *m, const struct dynamic *d, uint64_t svma, uint64_t n)
{
	const uint8_t *bytes = dw_clone_module_bytes(m, svma, n);

	for (uint64_t i = 0; bytes && i + sizeof(Elf64_Rela) <= n; i += sizeof(Elf64_Rela)) {
		uint64_t symbol;
		Elf64_Rela r;
		int rc = 0;

		memcpy(&r, bytes + i, sizeof r);
		symbol = symbol_value(m, d->value[DT_SYMTAB], ELF64_R_SYM(r.r_info));
		switch (ELF64_R_TYPE(r.r_info)) {
		case R_X86_64_RELATIVE:
		case R_X86_64_IRELATIVE:
			rc = add(m, r.r_offset, (uint64_t)r.r_addend,
				 ELF64_R_TYPE(r.r_info) == R_X86_64_RELATIVE);
			break;
		case R_X86_64_64:
			rc = symbol ? add(m, r.r_offset, symbol + (uint64_t)r.r_addend, false) : 0;
			break;
		case R_X86_64_GLOB_DAT:
		case R_X86_64_JUMP_SLOT:
			rc = symbol ? add(m, r.r_offset, symbol, false) : 0;
			if (!rc)
				rc = add_slot(m, d, &r);
			break;
		}
		if (rc)
			return rc;
	}
	return 0;
}

/* Add the word at @at, which holds its address before relocation. */
static int add_word(struct dw_clone_module *m, uint64_t at)
{
	const uint8_t *bytes = dw_clone_module_bytes(m, at, 8);
	uint64_t to;

	if (!bytes)
		return 0;
	memcpy(&to, bytes, sizeof to);
	return add(m, at, to, true);
}

/* DT_RELR: even words are addresses, odd ones tell which of the 63 words behind are relative too.
 */
static int read_relr(struct dw_clone_module *m, const struct dynamic *d)
{
	const uint8_t *bytes = dw_clone_module_bytes(m, d->value[DT_RELR], d->value[DT_RELRSZ]);
	uint64_t at = 0, entry;
	int rc = 0;

	for (uint64_t i = 0; bytes && i + sizeof entry <= d->value[DT_RELRSZ] && !rc;
	     i += sizeof entry) {
		memcpy(&entry, bytes + i, sizeof entry);
		if (!(entry & 1)) {
			rc = add_word(m, entry);
			at = entry + 8;
			continue;
		}
		for (unsigned bit = 1; bit < 64 && !rc; bit++)
			if (entry >> bit & 1)
				rc = add_word(m, at + (bit - 1) * 8);
		at += 63ull * 8;
	}
	return rc;
}

static int read_values(struct dw_clone_module *m)
{
	uint64_t to;

	dw_vec_each(s, &m->segments) {
		if (s->flags & PF_X)
			continue;
		for (uint64_t i = -s->svma & 7; i + sizeof to <= s->n; i += sizeof to) {
			memcpy(&to, s->bytes + i, sizeof to);
			if (to - m->start < m->bytes && add(m, s->svma + i, to, true))
				return -ENOMEM;
		}
	}
	return 0;
}

/* Sort those of one target by where they stand, as they mostly do by themselves. */
static void sort_equal(struct dw_clone_module *m)
{
	struct dw_clone_pointer *p = m->pointers.v, *end = p + m->pointers.n, *next;

	for (; p < end; p = next) {
		bool sorted = true;

		for (next = p + 1; next < end && next->to == p->to; next++)
			sorted &= next[-1].at <= next->at;
		if (!sorted)
			qsort(p, (size_t)(next - p), sizeof *p, dw_clone_by_svma);
	}
}

/* Sort by target, then place. There may be hundreds of thousands, and qsort() takes its time. */
static int sort(struct dw_clone_module *m)
{
	size_t n = m->pointers.n;
	dw_auto_free struct dw_sort_row *rows = malloc(n * sizeof *rows);
	struct dw_clone_pointer *sorted = malloc(n * sizeof *sorted);

	for (size_t i = 0; rows && i < n; i++)
		rows[i] = (struct dw_sort_row){m->pointers.v[i].to, i};
	if (!rows || !sorted || dw_sort_rows(rows, n)) {
		free(sorted);
		return -ENOMEM;
	}
	for (size_t i = 0; i < n; i++)
		sorted[i] = m->pointers.v[rows[i].row];
	free(m->pointers.v);
	m->pointers.v = sorted;
	m->pointers.cap = n;
	sort_equal(m);
	return 0;
}

int dw_clone_pointers_read(struct dw_clone_module *m)
{
	struct dynamic d = {{0}};
	int rc;

	read_dynamic(m, &d);
	rc = read_rela(m, &d, d.value[DT_RELA], d.value[DT_RELASZ]);
	if (!rc)
		rc = read_rela(m, &d, d.value[DT_JMPREL], d.value[DT_PLTRELSZ]);
	if (!rc)
		rc = read_relr(m, &d);
	if (!rc && m->is_fixed)
		rc = read_values(m);
	if (!rc && m->pointers.n)
		rc = sort(m);
	if (!rc && m->slots.n)
		qsort(m->slots.v, m->slots.n, sizeof *m->slots.v, dw_clone_by_svma);
	return rc;
}
