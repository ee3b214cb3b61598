/*
 * The functions of an ELF symbol table, by address, and those of Go programs, from the table that
 * their runtime walks stacks by (.gopclntab), which stays when a program is stripped.
 *
 * Fill from one or more files of the same svma space, then dw_symtab_sort(),
 * then look up. One thread at a time while filling, any number afterwards.
 */
#pragma once

#include "base/vec.h"
#include "code/elf/elf.h"

#include <stdbool.h>
#include <stdint.h>

struct dw_symbol {
	uint64_t svma;
	uint64_t bytes;	  /* 0 = the file does not say: the symbol reaches to the next one */
	uint64_t limit;	  /* end of its section */
	uint64_t reach;	  /* largest end of this and all symbols before it */
	const char *name; /* as in the file, a version behind it not cut off; borrowed */
	uint8_t binding;  /* 0 global, 1 weak, 2 local */
	bool is_function; /* typed as one; else it may be a label */
};

struct dw_symtab {
	DW_VEC(struct dw_symbol) rows;
	DW_VEC(char *) names; /* owned string tables */
};

/*
 * Add the symbols in code sections of @elf's table @section (".symtab" or ".dynsym", names in
 * @names). Returns 0; DWELL_ERR_NOT_FOUND when there is no such table; as dw_elf_read_section()
 * else.
 */
int dw_symtab_add(struct dw_symtab *t, const struct dw_elf *elf, const char *section,
		  const char *names);

/* Sort and choose one symbol per address: global before weak before local, functions before labels,
 * then those of the newest version, then fewest leading underscores, then by alphabet. */
void dw_symtab_sort(struct dw_symtab *t);

/* The symbol that holds @svma, borrowed: the innermost function, else a label that reaches it. NULL
 * = none. */
const struct dw_symbol *dw_symtab_find(const struct dw_symtab *t, uint64_t svma);

/* One past the last byte of @s, a symbol of @t. */
uint64_t dw_symtab_end(const struct dw_symtab *t, const struct dw_symbol *s);

/* Free everything. */
void dw_symtab_release(struct dw_symtab *t);

/*
 * Add the functions of @elf to @t, to be sorted. 0; DWELL_ERR_NOT_FOUND when there is no such table
 * of Go 1.18 or newer; DWELL_ERR_FORMAT; -ENOMEM.
 */
int dw_go_table_add(struct dw_symtab *t, const struct dw_elf *elf);
