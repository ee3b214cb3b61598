/*
 * The flow of control and of registers in one function, as far as indirect jumps need it.
 *
 * Built for functions with indirect jumps only. Instructions are numbered from 0 in the function
 * and decoded in detail when first asked for. "Flow" means that of clones: what enters a function's
 * middle from elsewhere in unknown ways enters the module's code and never the clone. One thread.
 */
#pragma once

#include "base/map.h"
#include "base/vec.h"
#include "clone/module.h"
#include "code/decode/insn-x86-64.h"

#include <stdbool.h>
#include <stdint.h>

/* A register for each bit, and the flags above them. */
enum { DWELL_FLOW_FLAGS_SHIFT = 16, DWELL_FLOW_FLAGS = 0x8d5 << DWELL_FLOW_FLAGS_SHIFT };

struct dw_flow_fact {
	uint32_t reads;	 /* bit n: general register n; above DWELL_FLOW_FLAGS_SHIFT: flags */
	uint32_t writes; /* registers that may, flags that are certain to change */
	bool is_known;
};

enum dw_flow_mark {
	DWELL_FLOW_ENTRY = 1, /* entered with unknown registers: the start, landing pads, jumps from
				 other functions */
	DWELL_FLOW_TARGET = 2, /* of a direct branch */
	DWELL_FLOW_LABEL = 4,  /* its address is taken */
};

struct dw_flow_edge {
	uint32_t from;
	uint32_t to;
};

/* The value of @reg in front of instruction @i. */
struct dw_flow_place {
	uint32_t i;
	uint8_t reg;
};

/* Addresses that functions are entered at from elsewhere, sorted, and calls that do not return. */
struct dw_flow_entries {
	DW_VEC(uint64_t) jumps;	 /* by a direct branch from another function, or as landing pad */
	DW_VEC(uint64_t) labels; /* the address is an operand */
	struct dw_map endless;	 /* targets of calls that do not return -> 1 */
	uint64_t work;		 /* done so far by walks, in instructions and edges */
};

/* Work for one module: hostile code must not take hours. cc1plus needs 20 million. */
enum { DWELL_FLOW_WORK_MAX = 1 << 29 };

struct dw_flow {
	const struct dw_clone_module *m;
	const struct dw_clone_function *f;
	const uint8_t *bytes; /* of f, borrowed */
	uint32_t n;
	uint32_t *at;	/* n + 1 offsets from f->start */
	uint8_t *marks; /* enum dw_flow_mark */
	struct dw_flow_fact *facts;
	DW_VEC(struct dw_flow_edge) edges; /* branches, then those of tables */
	uint32_t direct;		   /* edges that are branches */
	uint32_t *into; /* edge sources, by target: into[first[i]..first[i + 1]) */
	uint32_t *first;
	uint16_t *seen; /* registers that a walk followed to here, 0 between walks */
	DW_VEC(struct dw_flow_place) places; /* of the walk */
	struct dw_flow_entries *entries;
};

/* The address that the instruction @bytes at @svma has as an operand that is no memory, 0 = none.
 * In a module that lies at a fixed place any number may be one. [any-thread] */
uint64_t dw_flow_address_operand(const struct dw_clone_module *m, const struct dw_insn *insn,
				 const uint8_t *bytes, uint64_t svma);

/* Collect the entries of all functions of @m. 0 or -ENOMEM. dw_flow_entries_release() in any case.
 */
int dw_flow_entries_find(const struct dw_clone_module *m, struct dw_flow_entries *ret);

/* Free the memory. */
void dw_flow_entries_release(struct dw_flow_entries *e);

/* Build the flow of @f with its branches. 0 or -ENOMEM. dw_flow_close() in any case. */
int dw_flow_open(const struct dw_clone_module *m, const struct dw_clone_function *f,
		 struct dw_flow_entries *entries, struct dw_flow *ret);

/* Free the memory. */
void dw_flow_close(struct dw_flow *w);

/* Sort flow->edges into the lists of predecessors, after adding some. 0 or -ENOMEM. */
int dw_flow_link(struct dw_flow *w);

/* The instruction at @svma, UINT32_MAX when none of this function begins there. */
uint32_t dw_flow_insn_at(const struct dw_flow *w, uint64_t svma);

/* Decode instruction @i. */
bool dw_flow_detail(const struct dw_flow *w, uint32_t i, struct dw_insn *insn,
		    struct dw_insn_detail *ret);

/* Charge @n units of work. False: there was too much, nothing is known from then on. */
bool dw_flow_charge(struct dw_flow *w, uint64_t n);

/* What instruction @i reads and writes. */
const struct dw_flow_fact *dw_flow_fact(struct dw_flow *w, uint32_t i);

/* Whether instruction @i goes on with the next one. Calls do, but those of what does not return. */
bool dw_flow_falls_through(const struct dw_flow *w, uint32_t i);

enum dw_flow_definition {
	DWELL_FLOW_UNREACHED, /* nothing leads here */
	DWELL_FLOW_CONSTANT,  /* the same constant on every path */
	DWELL_FLOW_SUM,	      /* a constant and something unknown, on every path */
	DWELL_FLOW_POINTER,   /* loaded whole, returned, or given by the caller */
	DWELL_FLOW_UNKNOWN,
};

/*
 * How register @reg, as instruction @i finds it, was defined. *@constant is set for
 * DWELL_FLOW_CONSTANT and DWELL_FLOW_SUM.
 */
enum dw_flow_definition dw_flow_define(struct dw_flow *w, uint32_t i, uint8_t reg,
				       uint64_t *constant);

/*
 * Which of @wanted (register bits, flags above) may be read from @svma on before they are written.
 * Walks a bounded number of instructions; what it cannot know counts as read.
 */
uint32_t dw_flow_live(const struct dw_clone_module *m, uint64_t svma, uint32_t wanted);

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

/* Finds the pointer that a word of data holds. Zero-initialised is empty. */
struct dw_jump_words {
	struct dw_map by_at; /* svma -> index in m->pointers + 1 */
};

/* What is to be read. */
struct dw_jump_table_ask {
	uint64_t start;	     /* svma of entry 0 */
	uint64_t base;	     /* what 4-byte entries count from */
	uint8_t entry_bytes; /* 4 or 8 */
	bool is_tight;	     /* entries 0 to @max are all of the table */
	uint64_t max;	     /* largest index, UINT64_MAX = not known */
};

struct dw_jump_table_read {
	uint64_t start; /* svma of the first entry read; below the start asked for when indexes may
			   be negative */
	DW_VEC(uint64_t) to; /* svma */
};

/*
 * Read the table of a jump of @f. 0; DWELL_ERR_NOT_FOUND (no such table: writable, not code, not
 * into @f); DWELL_ERR_LIMIT; -ENOMEM. @ret may be used again and again; dw_vec_release() its list.
 */
int dw_jump_table_read(const struct dw_clone_module *m, const struct dw_clone_function *f,
		       const struct dw_jump_table_ask *ask, struct dw_jump_words *words,
		       struct dw_jump_table_read *ret);
