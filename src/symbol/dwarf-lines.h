/*
 * Line tables: which statement of the source an address belongs to.
 */
#pragma once

#include "symbol/question.h"

#include <elfutils/libdw.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Set file, line, column and their ends of locations @at[i] for the addresses @svmas[i], @n of
 * them, from the table of @unit. What the table does not know stays as it is. 0 or -ENOMEM.
 */
int dw_lines_find(Dwarf_Die *unit, const uint64_t *svmas, struct dw_location *const *at, size_t n,
		  struct dw_answer *answer);

/* The path of file @index in the table of @unit as a string of @answer; 0 in *@ret = none. 0 or
 * -ENOMEM. */
int dw_lines_file(Dwarf_Die *unit, uint32_t index, struct dw_answer *answer, uint32_t *ret);

/* Add @path, absolute or relative to the folder that @unit was compiled in, to @answer. 0 or
 * -ENOMEM. */
int dw_lines_add_path(Dwarf_Die *unit, const char *path, struct dw_answer *answer, uint32_t *ret);

/* Add all statements that the tables of @dwarf tell of to @answer, each address once. 0 or -ENOMEM.
 */
int dw_lines_statements(Dwarf *dwarf, struct dw_answer *answer);
