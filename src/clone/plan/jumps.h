/*
 * Indirect jumps: how the clone of `jmp *%rax` and its like find the clone of their target.
 *
 * A jump whose table is proven (the address of the table is one constant on every path, the loaded
 * value reaches that jump only) reads a second table of clone addresses at a fixed distance from
 * the module's own: no instruction more than the original. The register that it leaves behind holds
 * another value than the original's; where that could be read, the entry leads to a restoring
 * sequence behind the jump, which puts the module's address into it and goes on. Tables are taken
 * as long as the bounds check in front of the jump allows or, without one, as long as the entries
 * are addresses of code, which can only be too long.
 *
 * A jump to an address that was made elsewhere (loaded whole, handed over) leaves the function for
 * good when no address inside the function is known anywhere: it stays as it is.
 *
 * Every other jump looks its target up in a map of its function, by instructions that change no
 * flags, with registers saved below all stack in use; what the map does not know (tail calls,
 * labels elsewhere) goes to the original address, where the module's own code runs on.
 */
#pragma once

#include "clone/module.h"

enum dw_jump_how {
	DWELL_JUMP_MAP,	  /* by the map */
	DWELL_JUMP_TABLE, /* by a table of clone addresses */
	DWELL_JUMP_LEAVE, /* as it is: it leaves the function */
};

struct dw_jump_plan {
	uint32_t insn; /* the jump, index in module->insns */
	uint8_t how;   /* enum dw_jump_how */

	/* Tables. */
	uint8_t loads;	       /* the register that the entry is loaded into; DWELL_NO_REGISTER: the
				  jump reads the table itself */
	uint8_t jumps_by;      /* the jump's register; the same, or the one it is added to */
	uint8_t load_disp_at;  /* offset of the 32-bit displacement in the clone of the load */
	uint8_t load_bytes;    /* of the clone of the load (it may need a longer displacement) */
	bool is_absolute;      /* the load has no base register: its displacement is an address */
	uint32_t load;	       /* the instruction that reads the table; may be the jump */
	uint32_t table;	       /* index in module->jump_tables */
	uint32_t first_target; /* module->jump_restores: where restoring sequences go on */
	uint32_t restores;     /* their number */
	int64_t load_disp;     /* displacement of the module's load. The clone's is larger by the
				  distance from the module's table to the clone's */
	uint8_t add_bytes[4];  /* the addition that restoring sequences repeat for its flags */
	uint8_t add_n;	       /* 0 = they need not */

	/* Maps and leaving jumps. */
	int32_t free_below; /* no stack in use below rsp + this, <= 0; what is saved there is safe
				from signals */
};

/* A table of the module that jumps read, and its twin for clones. Several jumps may share one. */
struct dw_jump_table {
	uint64_t start; /* svma of its first entry */
	uint64_t base;	/* 4-byte entries count from this svma; 0 for 8-byte entries */
	uint32_t first; /* its entries in module->jump_entries */
	uint32_t n;
	uint32_t plan;	     /* index of the plan whose restoring sequences all its jumps use */
	uint32_t at;	     /* area offset of the clone's table, set by the layout */
	uint8_t entry_bytes; /* 4 or 8 */
};

/* What an entry of a clone's table holds. */
enum dw_jump_target {
	DWELL_JUMP_TO_MODULE,	/* svma, as in the module's table */
	DWELL_JUMP_TO_CLONE,	/* the clone of the instruction at svma, behind a prefix */
	DWELL_JUMP_TO_RESTORE,	/* restoring sequence @restore of the table's plan */
	DWELL_JUMP_TO_FUNCTION, /* fixups only: the module's address of the function's start */
	DWELL_JUMP_TO_MAP,	/* fixups only: the function's map, in the area */
};

struct dw_jump_entry {
	uint64_t svma;
	uint32_t restore;
	uint8_t to; /* enum dw_jump_target */
};

/*
 * Plan all indirect jumps of functions that are to be cloned into m->jumps, m->jump_tables, ...;
 * sets has_map. Entries to functions that are left alone afterwards are the
 * emitter's to send to the module. 0 or -ENOMEM.
 */
int dw_jumps_plan(struct dw_clone_module *m);

/* The plan of the jump @insn. NULL = none. */
const struct dw_jump_plan *dw_jumps_find(const struct dw_clone_module *m, uint32_t insn);

/* The plan whose load is @insn (the jump itself, when that reads the table). NULL = none. */
const struct dw_jump_plan *dw_jumps_find_load(const struct dw_clone_module *m, uint32_t insn);

/* Of stack below free_below, for registers and the target. */
enum { DWELL_JUMP_SAVED_BYTES = 32 };

/* An instruction with one opcode byte and an operand in memory or a register, taken apart. */
struct dw_jump_parts {
	const uint8_t *bytes;
	uint8_t rex_at;	  /* or where it would stand */
	uint8_t rex;	  /* 0 = none */
	uint8_t modrm_at; /* behind one opcode byte */
	uint8_t n;
};

/* Take the instruction of @n bytes at @bytes apart. */
struct dw_jump_parts dw_jump_take_apart(const uint8_t *bytes, uint8_t n);
