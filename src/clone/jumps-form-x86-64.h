/*
 * The forms in which compilers write jumps by tables.
 */
#pragma once

#include "clone/jumps-flow-x86-64.h"

/*
 * "Go where the table at @start + index says": entries of 8 bytes are addresses, those of 4 bytes
 * are distances from @base. Instructions are indexes in the function.
 */
struct dw_jump_form {
	uint32_t jump;
	uint32_t load;	     /* reads the entry; the jump itself when that has the memory operand */
	uint32_t add;	     /* adds the base; UINT32_MAX = none */
	uint8_t entry_bytes; /* 0 = no such form */
	uint8_t jumps_by;    /* register, DWELL_NO_REGISTER = memory */
	uint8_t loads; /* register that the load writes; may not be the one that is added to */
	uint8_t adds;  /* register that holds the base */
	uint8_t holds; /* register of the load that holds the table, DWELL_NO_REGISTER = none */
	uint8_t index;
	bool sets_flags; /* by the add, and some of them stay to the jump */
	bool adds_again; /* the addition, done right at the jump, would do the same */
	int64_t disp;	 /* of the load */
};

/* Find the form of the indirect jump @jump. ret->entry_bytes = 0 when it has none. */
void dw_jump_form_find(struct dw_flow *w, uint32_t jump, struct dw_jump_form *ret);

struct dw_jump_bound {
	uint64_t max;  /* largest index, UINT64_MAX = not known */
	bool is_tight; /* a bounds check: every index up to @max may occur */
};

/* What the code in front of the load says of the index. */
void dw_jump_bound_find(struct dw_flow *w, const struct dw_jump_form *form,
			struct dw_jump_bound *ret);
