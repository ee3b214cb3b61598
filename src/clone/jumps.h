/*
 * Indirect jumps: how the clone of `jmp *%rax` and its like find the clone of their target.
 *
 * A jump whose table is proven (the base register holds one constant on every path, the loaded
 * value is dead after the jump) reads a second table of clone addresses at a fixed distance from
 * the module's own: no instruction more than the original. The table is taken as long as its
 * entries are addresses of code, which can only be too long. Every other jump looks its target up
 * in a map of its function, with registers saved below all stack in use, and flags kept unless they
 * are proven dead; what the map does not know (tail calls, unknown labels) goes to the original
 * address, where the module's own code runs on.
 */
#pragma once

#include "clone/module.h"

enum dw_jump_how {
	DWELL_JUMP_MAP,	     /* by the map */
	DWELL_JUMP_TABLE_64, /* mov T(..), %r; jmp *%r, or jmp *T(,%r,8): absolute entries */
	DWELL_JUMP_TABLE_32, /* movslq (%base,%r,4), %r; add %base, %r; jmp *%r: relative to the
				table */
};

struct dw_jump_plan {
	uint32_t insn;	/* the jump, index in module->insns */
	uint32_t load;	/* tables: the instruction whose displacement leads to the table instead */
	uint64_t table; /* svma of the module's table */
	uint32_t entries;     /* of it */
	uint8_t how;	      /* enum dw_jump_how */
	uint8_t load_disp_at; /* offset of the 32-bit displacement in the clone of the load */
	uint8_t load_bytes;   /* of the clone of the load (it may need a longer displacement) */
	bool flags_dead;      /* maps: no target reads flags that it did not write */
	uint16_t dead;	      /* maps: bit n: general register n is dead at the jump */
	int32_t free_below;   /* maps: no stack in use below rsp + this, <= 0 */
	uint32_t table_at;    /* area offset of the clone's table, set by the layout */
};

/*
 * Plan all indirect jumps of functions that are to be cloned into m->jumps; sets has_map and
 * DWELL_LEFT_RED_ZONE. 0 or -ENOMEM.
 */
int dw_jumps_plan(struct dw_clone_module *m);

/* The plan of the jump, or of the load, @insn. NULL = none. */
const struct dw_jump_plan *dw_jumps_find(const struct dw_clone_module *m, uint32_t insn);

/* A 32-bit distance in emitted code. */
struct dw_jump_fixup {
	uint8_t at; /* in the bytes written */
	uint8_t to; /* enum dw_jump_target; the field counts from at + 4 + @after */
	uint8_t after;
};

enum dw_jump_target {
	DWELL_JUMP_TO_FUNCTION, /* the module's address of the function's start */
	DWELL_JUMP_TO_MAP,	/* the map, in the area */
	DWELL_JUMP_TO_MODULE,	/* a rip operand of the module's instruction: its own target */
	DWELL_JUMP_TO_TABLE,	/* the clone's table, in the area, as absolute 32-bit address */
};

enum { DWELL_JUMP_BYTES_MAX = 160, DWELL_JUMP_FIXUPS_MAX = 6 };

struct dw_jump_code {
	uint8_t bytes[DWELL_JUMP_BYTES_MAX];
	uint8_t n;
	uint8_t fixups_n;
	struct dw_jump_fixup fixups[DWELL_JUMP_FIXUPS_MAX];
};

/*
 * Write the clone of the indirect jump @plan->insn, whose module bytes are @bytes, for a
 * DWELL_JUMP_MAP. Position-independent but for its fixups. @leave = bytes to put on the way out of
 * the function (an exit probe), @leave_n of them.
 */
void dw_jump_write(const struct dw_clone_module *m, const struct dw_jump_plan *plan,
		   const uint8_t *leave, size_t leave_n, struct dw_jump_code *ret);

/* Write the clone of the load @plan->load of a table jump; its displacement is
 * the emitter's to fill: table_at as seen from the register (TABLE_32 and based TABLE_64: the
 * original displacement + distance from table to table). */
void dw_jump_write_load(const struct dw_clone_module *m, const struct dw_jump_plan *plan,
			struct dw_jump_code *ret);
