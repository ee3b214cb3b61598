/*
 * Functions as DWARF describes them -> rows of an answer: name, declaration, range.
 *
 * Concrete and inlined copies share one abstract DIE, and so one row.
 */
#pragma once

#include "base/map.h"
#include "symbol/answer.h"
#include "symbol/scope.h"

#include <elfutils/libdw.h>
#include <stdbool.h>
#include <stdint.h>

struct dw_die_functions {
	struct dw_answer *answer; /* borrowed */
	struct dw_map ids;	  /* address of the abstract DIE -> function id */
	struct dw_scopes scopes;
};

/*
 * The row of the function that @die, a subprogram or inlined subroutine, stands for. *@ret = 0 when
 * it has no name. 0 or -ENOMEM.
 */
int dw_die_functions_get(struct dw_die_functions *t, Dwarf_Die *die, uint32_t *ret);

/* Free everything but the answer. */
void dw_die_functions_release(struct dw_die_functions *t);
