/*
 * Words of a module's data that hold addresses of code, its own or of symbols; see module.h.
 * Sources: gABI chapter 5 (dynamic section, DT_RELR), psABI x86-64 4.4.1 (relocation types).
 */
#include "clone/module.h"

#include "base/cursor.h"

#include <elf.h>
#include <errno.h>
#include <string.h>

#ifndef DT_RELR
enum { DT_RELRSZ = 35, DT_RELR = 36 };
#endif

struct dynamic {
	uint64_t symtab, strtab, rela, rela_bytes, jmprel, jmprel_bytes, relr, relr_bytes;
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

		switch (tag) {
		case DT_NULL:
			return;
		case DT_SYMTAB:
			d->symtab = value;
			break;
		case DT_STRTAB:
			d->strtab = value;
			break;
		case DT_RELA:
			d->rela = value;
			break;
		case DT_RELASZ:
			d->rela_bytes = value;
			break;
		case DT_JMPREL:
			d->jmprel = value;
			break;
		case DT_PLTRELSZ:
			d->jmprel_bytes = value;
			break;
		case DT_RELR:
			d->relr = value;
			break;
		case DT_RELRSZ:
			d->relr_bytes = value;
			break;
		}
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
	const uint8_t *bytes =
		dw_clone_module_bytes(m, d->symtab + i * sizeof(Elf64_Sym), sizeof(Elf64_Sym));
	Elf64_Sym sym;

	if (!bytes || !i)
		return NULL;
	memcpy(&sym, bytes, sizeof sym);
	dw_vec_each(s, &m->segments) {
		uint64_t at = d->strtab + sym.st_name - s->svma;

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
		symbol = symbol_value(m, d->symtab, ELF64_R_SYM(r.r_info));
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
	const uint8_t *bytes = dw_clone_module_bytes(m, d->relr, d->relr_bytes);
	uint64_t at = 0, entry;
	int rc = 0;

	for (uint64_t i = 0; bytes && i + sizeof entry <= d->relr_bytes && !rc; i += sizeof entry) {
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

static int by_slot(const void *a, const void *b)
{
	const struct dw_clone_slot *x = a, *y = b;

	return (x->at > y->at) - (x->at < y->at);
}

static int by_place(const void *a, const void *b)
{
	const struct dw_clone_pointer *x = a, *y = b;

	return (x->at > y->at) - (x->at < y->at);
}

/* Bits of distances in the module, which is no larger than 1 GB, taken at a time. */
enum { DIGIT_BITS = 11, DIGITS = 1 << DIGIT_BITS, DISTANCE_BITS = 30 };

/* Move @from to @to in the order of one digit of their targets, else of their own. */
static void sort_digit(const struct dw_clone_module *m, const struct dw_clone_pointer *from,
		       struct dw_clone_pointer *to, unsigned shift)
{
	uint32_t at[DIGITS + 1] = {0};

	for (size_t i = 0; i < m->pointers.n; i++)
		at[((from[i].to - m->start) >> shift) % DIGITS + 1]++;
	for (unsigned i = 0; i < DIGITS; i++)
		at[i + 1] += at[i];
	for (size_t i = 0; i < m->pointers.n; i++)
		to[at[((from[i].to - m->start) >> shift) % DIGITS]++] = from[i];
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
			qsort(p, (size_t)(next - p), sizeof *p, by_place);
	}
}

/* Sort by target, then place. There may be hundreds of thousands, and qsort() takes its time. */
static int sort(struct dw_clone_module *m)
{
	DW_VEC(struct dw_clone_pointer) other = {0};

	if (dw_vec_reserve(&other, m->pointers.n))
		return -ENOMEM;
	for (unsigned shift = 0; shift < DISTANCE_BITS; shift += DIGIT_BITS) {
		struct dw_clone_pointer *sorted = other.v;

		sort_digit(m, m->pointers.v, sorted, shift);
		other.v = m->pointers.v;
		m->pointers.v = sorted;
	}
	m->pointers.cap = m->pointers.n;
	dw_vec_release(&other);
	sort_equal(m);
	return 0;
}

int dw_clone_pointers_read(struct dw_clone_module *m)
{
	struct dynamic d = {0};
	int rc;

	read_dynamic(m, &d);
	rc = read_rela(m, &d, d.rela, d.rela_bytes);
	if (!rc)
		rc = read_rela(m, &d, d.jmprel, d.jmprel_bytes);
	if (!rc)
		rc = read_relr(m, &d);
	if (!rc && m->is_fixed)
		rc = read_values(m);
	if (!rc && m->pointers.n)
		rc = sort(m);
	if (!rc && m->slots.n)
		qsort(m->slots.v, m->slots.n, sizeof *m->slots.v, by_slot);
	return rc;
}
