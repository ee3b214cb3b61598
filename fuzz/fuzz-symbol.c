/*
 * Foreign bytes of src/symbol: what a helper process answers (the first byte is the number of
 * addresses asked for), and, when they begin like an ELF file, symbol tables, Go's too, and PLT
 * stubs.
 */
#include "symbol/question.h"
#include "symbol/symtab.h"
#include "symbol/plt.h"

#include <elf.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

/* An answer that decodes must say the same after another trip. */
static void try_answer(const uint8_t *data, size_t n)
{
	struct dw_answer a = {0}, b = {0};
	struct dw_buf first = DW_BUF_INIT, second = DW_BUF_INIT;

	if (!dw_answer_decode(data + 1, n - 1, data[0], &a)) {
		if (dw_answer_encode(&a, &first) ||
		    dw_answer_decode(first.data, first.len, data[0], &b) ||
		    dw_answer_encode(&b, &second) || first.len != second.len ||
		    memcmp(first.data, second.data, first.len))
			abort();
	}
	dw_buf_release(&first);
	dw_buf_release(&second);
	dw_answer_release(&a);
	dw_answer_release(&b);
}

/* Every symbol's first byte belongs to that symbol or to one that begins inside or before it. */
static void look_up_all(const struct dw_symtab *t)
{
	dw_vec_each(s, &t->rows) {
		const struct dw_symbol *found = dw_symtab_find(t, s->svma);

		if (found && (found->svma > s->svma || dw_symtab_end(t, found) <= s->svma))
			abort();
	}
}

/* A stub that is found holds the address asked for. */
static void look_at_stubs(const struct dw_plt *plt, const struct dw_elf *elf)
{
	size_t n;
	const struct dw_elf_section *sections = dw_elf_sections(elf, &n);
	struct dw_plt_stub stub;

	for (size_t i = 0; i < n && i < 64; i++) {
		uint64_t start = sections[i].svma.v;

		for (uint64_t svma = start; svma < start + 64; svma += 8) {
			const struct dw_elf_section *s = dw_plt_section(elf, svma);

			if (s && !dw_plt_find(plt, elf, s, svma, &stub) &&
			    svma - stub.svma >= stub.bytes)
				abort();
		}
	}
}

static void try_elf(const uint8_t *data, size_t n)
{
	struct dw_symtab t = {0};
	struct dw_plt plt = {0};
	struct dw_elf *elf;

	if (dw_elf_open_bytes(data, n, false, &elf, NULL))
		return;
	(void)dw_symtab_add(&t, elf, ".symtab", ".strtab");
	(void)dw_symtab_add(&t, elf, ".dynsym", ".dynstr");
	(void)dw_go_table_add(&t, elf);
	dw_symtab_sort(&t);
	look_up_all(&t);
	(void)dw_plt_load(&plt, elf);
	look_at_stubs(&plt, elf);
	dw_plt_release(&plt);
	dw_symtab_release(&t);
	dw_elf_free(elf);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	if (n >= SELFMAG && !memcmp(data, ELFMAG, SELFMAG))
		try_elf(data, n);
	else if (n)
		try_answer(data, n);
	return 0;
}
