/*
 * Functions of Go programs, from the table that their runtime walks stacks by (.gopclntab). It
 * stays when a program is stripped.
 */
#pragma once

#include "symbol/symtab.h"

/*
 * Add the functions of @elf to @t, to be sorted. 0; DWELL_ERR_NOT_FOUND when there is no such table
 * of Go 1.18 or newer; DWELL_ERR_FORMAT; as dw_elf_read_section() else.
 */
int dw_go_table_add(struct dw_symtab *t, const struct dw_elf *elf);
