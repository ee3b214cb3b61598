/*
 * A module on its way to a clone image: its bytes, its functions (ranges of the unwind table),
 * their instructions, and what was decided about each.
 *
 * Steps fill it in turn (clone.c): those of read/, plan/ and emit/. A step that finds that a
 * function cannot be cloned sets its reason and leaves it at that; nobody clears a reason. Bytes
 * come from hostile files. One thread, except where a step divides functions among threads of its
 * own (dw_shares_run()).
 */
#pragma once

#include "base/error.h"
#include "base/map.h"
#include "base/vec.h"
#include "code/cfi/entry.h"
#include "code/cfi/fdes.h"
#include "code/decode/insn.h"
#include "code/elf/elf.h"
#include "wire/clone-image.h"

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/*
 * A set of addresses that tells in constant time how many of its members lie at or below an
 * address: which function, which instruction.
 *
 * One bit for each byte of a span of code, and one count for each 64 of them: a binary search for
 * each of the millions of branches and operands of a large program would cost more than decoding
 * it. Immutable once counted: any thread may ask.
 */
struct dw_rank {
	uint64_t base; /* svma of the first bit */
	uint64_t n;    /* bytes of code in the span */
	uint64_t *bits;
	uint32_t *before; /* members below each word of bits */
};

/* Bits set in @word. Compilers call a function for it where the processor may lack popcnt. */
static inline uint32_t dw_rank_bits(uint64_t word)
{
	word -= word >> 1 & 0x5555555555555555u;
	word = (word & 0x3333333333333333u) + (word >> 2 & 0x3333333333333333u);
	word = (word + (word >> 4)) & 0x0f0f0f0f0f0f0f0fu;
	return (uint32_t)(word * 0x0101010101010101u >> 56);
}

/* Make an empty set for [@base, @base + @n). 0 or -ENOMEM. dw_rank_release() in any case. */
static inline int dw_rank_init(struct dw_rank *r, uint64_t base, uint64_t n)
{
	*r = (struct dw_rank){.base = base, .n = n};
	r->bits = calloc(n / 64 + 1, sizeof *r->bits);
	r->before = calloc(n / 64 + 1, sizeof *r->before);
	return r->bits && r->before ? 0 : -ENOMEM;
}

/* Count the members, after the last dw_rank_add(). */
static inline void dw_rank_count(struct dw_rank *r)
{
	uint32_t sum = 0;

	for (uint64_t i = 0; i <= r->n / 64; i++) {
		r->before[i] = sum;
		sum += dw_rank_bits(r->bits[i]);
	}
}

/* Remove all members. */
static inline void dw_rank_clear(struct dw_rank *r)
{
	memset(r->bits, 0, (r->n / 64 + 1) * sizeof *r->bits);
}

/* Free the memory. */
static inline void dw_rank_release(struct dw_rank *r)
{
	free(r->bits);
	free(r->before);
	*r = (struct dw_rank){0};
}

/* Add @svma, which lies in the span. */
static inline void dw_rank_add(struct dw_rank *r, uint64_t svma)
{
	r->bits[(svma - r->base) / 64] |= 1ull << (svma - r->base) % 64;
}

/* Add the members of [base + 64 * @word, + 64) whose bits are set, other threads adding too. */
static inline void dw_rank_add_word(struct dw_rank *r, uint64_t word, uint64_t bits)
{
	if (bits & ~__atomic_load_n(&r->bits[word], __ATOMIC_RELAXED))
		__atomic_fetch_or(&r->bits[word], bits, __ATOMIC_RELAXED);
}

/* Whether @svma is a member. */
static inline bool dw_rank_has(const struct dw_rank *r, uint64_t svma)
{
	return svma - r->base < r->n && r->bits[(svma - r->base) / 64] >> (svma - r->base) % 64 & 1;
}

/* The number of members at or below @svma, which lies in the span. */
static inline uint32_t dw_rank_at(const struct dw_rank *r, uint64_t svma)
{
	uint64_t at = svma - r->base;

	return r->before[at / 64] + dw_rank_bits(r->bits[at / 64] & ((2ull << at % 64) - 1));
}

/* What is decided for one instruction, bits. */
enum dw_clone_mark {
	DWELL_MARK_KEEP_RETURN = 1, /* a call that leaves the original return address: struct
				       dw_clone_return */
	DWELL_MARK_OUT = 2, /* a call of an import, between the trampolines OUT and RETURN; or a
			       jump there that ends its function, behind TAIL */
	DWELL_MARK_OUT_POINTER = 4, /* a call through a pointer, between OUT_POINTER and RETURN */
	DWELL_MARK_LANDING = 8,	    /* a landing pad: exceptions go to a call of LANDING in front */
	DWELL_MARK_SYSTEM_CALL = 16, /* between the trampolines CALL_BEGIN and CALL_END */
	DWELL_MARK_LINE = 32,	     /* a statement: behind a call of the trampoline LINE */
	DWELL_MARK_LINE_BELOW = 64,  /* of these: the call is made below the red zone */
	DWELL_MARK_SAME_LINE = 128,  /* a branch to a statement of its own line: behind its probe */
	DWELL_MARK_RETURN = 128,     /* a direct call: before the trampoline RETURN */
};

enum { DWELL_TRAMPOLINE_CALL_BYTES = 5 };

struct dw_clone_function {
	uint64_t start; /* svma */
	uint64_t end;	/* exclusive */
	uint32_t first; /* its instructions in module->insns */
	uint32_t n;
	uint32_t fde;	   /* index in module->fdes */
	uint32_t clone_at; /* area offset, set by the layout */
	uint32_t clone_bytes;
	uint16_t prefix_bytes;
	uint8_t reason; /* enum dw_clone_reason */
	uint8_t flags;	/* enum dw_clone_flag */
	bool has_indirect_jump;
	bool has_map; /* an indirect jump of it needs the map of its instructions */
	uint32_t
		map_at; /* area offset of int32 map[end - start]: clone - map, 0 = no instruction */
};

/* In the flags of m->insns: it reads a table for a jump (plan/jumps.h). Set by the layout. */
enum { DWELL_INSN_READS_TABLE = 0x80 };

/* A word of the module's data that holds the address of code: by a relocation, or, in modules at
 * fixed addresses, by its value. */
struct dw_clone_pointer {
	uint64_t at;  /* svma of the word */
	uint64_t to;  /* svma */
	bool is_sure; /* the word will hold just that: no other module's symbol may take its place,
			 nothing is computed when it is loaded */
};

/* A word of the module's data that the loader fills with the address of a symbol, for calls. */
struct dw_clone_slot {
	uint64_t at;	  /* svma */
	const char *name; /* of the symbol, borrowed from the segment; NULL = unknown */
};

/* For qsort(): by the svma that elements begin with. */
static inline int dw_clone_by_svma(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

/* A place where exceptions of a function land. */
struct dw_clone_pad {
	uint32_t function; /* whose LSDA says so, index in module->functions */
	uint64_t svma;
};

/* The bytes of one loaded segment. */
struct dw_clone_segment {
	uint64_t svma;
	uint64_t n;	/* in the file */
	uint32_t flags; /* PF_* */
	uint8_t *bytes; /* owned */
};

struct dw_jump_plan; /* plan/jumps.h */
struct dw_jump_table;
struct dw_jump_entry;

struct dw_clone_module {
	const struct dw_elf *elf; /* borrowed */
	struct dw_module_identity identity;
	uint64_t start;	  /* svma of the lowest segment's page */
	uint64_t bytes;	  /* to the end of the highest segment's page */
	uint64_t entry;	  /* svma where the program begins, 0 = none */
	uint32_t probes;  /* enum dw_clone_probes, set by who asks for an image */
	bool is_fixed;	  /* ET_EXEC */
	int64_t distance; /* of the area from start that needs no relocation */
	DW_VEC(struct dw_clone_segment) segments;
	struct dw_cfi_section sections[DWELL_CFI_SECTIONS];
	uint8_t *section_memory; /* owned */
	struct dw_cfi_fdes fdes;
	DW_VEC(struct dw_clone_function) functions; /* sorted by start, disjoint */
	struct dw_rank starts;			    /* of functions */
	DW_VEC(struct dw_insn) insns;
	struct dw_rank insn_starts;		  /* of all instructions in insns, in their order */
	DW_VEC(uint8_t) marks;			  /* bits of enum dw_clone_mark by instruction */
	DW_VEC(struct dw_clone_pointer) pointers; /* sorted by @to */
	DW_VEC(struct dw_clone_slot) slots;	  /* sorted by @at */
	DW_VEC(struct dw_clone_pad) pads;	  /* by the unwind check, for DWELL_PROBES_TIME */
	DW_VEC(struct dw_clone_import) imports;
	DW_VEC(struct dw_clone_statement) statements; /* with probes, by module offset */
	uint32_t statements_left;		      /* that were asked for, without */
	struct dw_map import_of; /* svma that is called or called through -> index in imports + 1 */
	uint32_t system_calls_left;	   /* instructions without trampolines */
	uint32_t system_calls;		   /* with */
	DW_VEC(struct dw_jump_plan) jumps; /* sorted by instruction */
	DW_VEC(uint32_t)
	places; /* area offset of each instruction's clone, behind the prefix; by the layout */
	DW_VEC(uint32_t) jump_loads; /* indexes of plans with tables, by load */
	DW_VEC(struct dw_jump_table) jump_tables;
	DW_VEC(struct dw_jump_entry) jump_entries;
	DW_VEC(uint64_t) jump_restores; /* svma */
};

/*
 * Read what cloning needs of @elf into @ret: segments, unwind sections, functions, pointers. 0;
 * DWELL_ERR_NOT_FOUND (no unwind table); DWELL_ERR_FORMAT; DWELL_ERR_UNSUPPORTED; DWELL_ERR_LIMIT;
 * -ENOMEM. dw_clone_module_release() in any case; @elf must outlive it.
 */
int dw_clone_module_read(const struct dw_elf *elf, struct dw_clone_module *ret,
			 struct dw_error *err);

/* Read the segments of code and headers, and the identity. Errors, and release, as
 * dw_clone_module_read(). */
int dw_clone_module_read_code(const struct dw_elf *elf, struct dw_clone_module *ret,
			      struct dw_error *err);

/* Decode all functions: instructions, or the reason DWELL_LEFT_UNDECODABLE. 0 or -ENOMEM. */
int dw_clone_module_decode(struct dw_clone_module *m);

/*
 * Fill m->pointers: by the dynamic relocations, and in modules at fixed addresses also by value,
 * which may find too many. And m->slots. The segments must have been read. 0 or -ENOMEM.
 */
int dw_clone_pointers_read(struct dw_clone_module *m);

/* Free everything. */
void dw_clone_module_release(struct dw_clone_module *m);

/* The @n bytes that the file holds for @svma, borrowed. NULL when they are not all there. */
const uint8_t *dw_clone_module_bytes(const struct dw_clone_module *m, uint64_t svma, size_t n);

/* Whether @svma lies in code that linkers make (.plt, .init, .fini): no function begins there. */
bool dw_clone_is_linkers(const struct dw_elf *elf, uint64_t svma);

/* The function whose range holds @svma, cloned or not. NULL = none. */
struct dw_clone_function *dw_clone_function_at(const struct dw_clone_module *m, uint64_t svma);

/* Read the unwind entries of @f. Errors as dw_cfi_read(). */
int dw_clone_read_fde(const struct dw_clone_module *m, const struct dw_clone_function *f,
		      struct dw_cfi_reading *r);

/* The function that instruction @i belongs to. */
const struct dw_clone_function *dw_clone_function_of(const struct dw_clone_module *m, uint32_t i);

/*
 * The instruction of @f that begins at @svma, as index in m->insns; UINT32_MAX when none begins
 * there.
 */
uint32_t dw_clone_insn_at(const struct dw_clone_module *m, const struct dw_clone_function *f,
			  uint64_t svma);

/*
 * Whether a branch to @svma, in @f, has a place in the clone: the start of an instruction, or
 * behind the lock prefix of one (the C library jumps there while it has one thread).
 */
bool dw_clone_is_place(const struct dw_clone_module *m, const struct dw_clone_function *f,
		       uint64_t svma);

/*
 * Area offset of the clone of the instruction at @svma, after the layout; 0 = not cloned, or no
 * place. At a function's first instruction: behind the prefix with @inside.
 */
uint32_t dw_clone_place(const struct dw_clone_module *m, uint64_t svma, bool inside);

/* Area offset where the clone of instruction @i begins, after the layout: in front of the
 * trampoline of a landing pad, but behind a prefix. */
static inline uint32_t dw_clone_front(const struct dw_clone_module *m, uint32_t i)
{
	return m->places.v[i] -
	       (m->marks.v[i] & DWELL_MARK_LANDING ? DWELL_TRAMPOLINE_CALL_BYTES : 0);
}

/* The same for the instruction at @svma of @f, which is cloned; for f->start in front of the
 * prefix, for f->end the end of the clone. */
uint32_t dw_clone_boundary(const struct dw_clone_module *m, const struct dw_clone_function *f,
			   uint64_t svma);

/*
 * Whether the clone of @f calls trampolines where it leaves the function and, with
 * DWELL_PROBES_TIME, around calls: probed functions, and then parts of functions too.
 */
static inline bool dw_clone_is_measured(const struct dw_clone_module *m,
					const struct dw_clone_function *f)
{
	return f->flags & DWELL_CLONE_PROBED ||
	       (m->probes == DWELL_PROBES_TIME && f->flags & DWELL_CLONE_COLD);
}

/*
 * Steps that are divided among threads, by functions. Shares are the same whatever the machine and
 * whoever works on them, so what a step makes is too, as long as shares change nothing of each
 * other's but by setting bits.
 */
enum { DWELL_SHARES = 2 };

/* Functions [first, end), of share @k. */
struct dw_share {
	unsigned k;
	uint32_t first;
	uint32_t end;
};

/* Call @work once for each share of @m, in threads of their own when that is worth it. Returns when
 * all have returned. */
void dw_shares_run(const struct dw_clone_module *m,
		   void (*work)(void *ctx, const struct dw_share *share), void *ctx);
