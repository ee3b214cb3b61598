/*
 * What the parts of the verifier share: a module's bytes, an image placed at some distance from it,
 * and the functions and instructions that the image claims.
 *
 * Everything is in the module's own addresses: the area lies at svma v->area_svma. Both module and
 * image may be hostile. One thread.
 */
#pragma once

#include "base/map.h"
#include "base/vec.h"
#include "clone/verify/verify.h"
#include "code/cfi/fdes.h"
#include "code/cfi/entry.h"
#include "wire/clone-image.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Bytes that are loaded at svma. */
struct dw_verify_span {
	uint64_t svma;
	uint64_t n;
	uint32_t flags; /* PF_* */
	uint8_t *bytes; /* owned */
};

/* One instruction of a clone. */
struct dw_verify_insn {
	uint64_t svma;
	uint32_t clone_at; /* area offset; behind a prefix and the trampoline of a landing pad */
	uint32_t front;	   /* behind a prefix only */
};

struct dw_verify_function {
	uint64_t start; /* svma */
	uint64_t end;
	uint32_t index;	   /* in the image's list */
	uint32_t clone_at; /* area offset; 0 = no clone */
	uint32_t clone_end;
	uint32_t prefix_bytes;
	uint32_t flags;	 /* enum dw_clone_flag */
	uint32_t reason; /* enum dw_clone_reason */
	uint32_t first;	 /* in v->insns */
	uint32_t n;
};

/* A word that the loader fills with an address. */
struct dw_verify_pointer {
	uint64_t at; /* svma */
	uint64_t to;
};

/* A word that the loader fills with the address of a symbol. */
struct dw_verify_slot {
	uint64_t at;   /* svma */
	bool switches; /* by its name it goes on on another stack */
};

/* For qsort(): by the svma that elements begin with. */
static inline int dw_verify_by_svma(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

/* Bytes of the area that belong to a map or a table. */
struct dw_verify_region {
	uint64_t svma;
	uint64_t n;
};

/* A load from a table of clone addresses beside the module's. */
struct dw_verify_load {
	uint64_t svma;
	int64_t disp;	   /* of the module's operand */
	int64_t shift;	   /* larger by this in the clone */
	uint32_t function; /* index in v->functions */
	uint32_t insn;	   /* index in v->insns, as that of the jump it is for */
	uint32_t jump;
	uint8_t base;  /* register; DWELL_NO_REGISTER: the displacement is the table's address */
	uint32_t left; /* registers and flags that hold other values behind the jump */
	uint8_t loads; /* register */
	uint8_t jumps_by;
	uint8_t entry_bytes;
};

struct dw_verify {
	const struct dw_elf *elf; /* borrowed */
	DW_VEC(struct dw_verify_span) spans;
	uint64_t start; /* svma of the lowest segment's page */
	uint64_t bytes; /* to the end of the highest segment's page */
	bool is_fixed;
	struct dw_cfi_section sections[DWELL_CFI_SECTIONS];
	uint8_t *section_memory; /* owned */
	struct dw_cfi_fdes fdes;

	const uint8_t *image; /* borrowed, as it is in the file */
	struct dw_clone_header h;
	uint8_t *area; /* owned: the image with relocations applied */
	size_t area_n;
	uint64_t area_svma;
	DW_VEC(struct dw_verify_function) functions; /* ascending */
	DW_VEC(struct dw_verify_insn) insns;	     /* ascending */
	DW_VEC(struct dw_verify_pointer) pointers;   /* by place */
	DW_VEC(struct dw_verify_slot) slots;	     /* by place */
	DW_VEC(struct dw_verify_load) loads;
	DW_VEC(struct dw_verify_region) regions;
	struct dw_pairs unread, read; /* (target, left behind) that were looked at */
	uint64_t map_svma;	      /* of the map that was checked last */
	uint32_t trampoline_calls[DWELL_TRAMPOLINES_N]; /* of the image's lists, so far */
	bool probes_known;				/* the next two are there, sorted */
	DW_VEC(uint64_t) pads;				/* svma where exceptions land */
	DW_VEC(uint64_t) entered; /* starts of functions into whose middle others jump */
	uint64_t walked;	  /* start of the function that was walked over last, or
				     UINT64_MAX */
	bool uses_below;	  /* it may use stack below rsp */
	DW_VEC(uint64_t) reached; /* svma that something may lead to; sorted */
	struct dw_verify_result *ret;
};

/* Read the module of @elf, and check what the image says of itself. 0; DWELL_ERR_FORMAT; ... as
 * dw_clone_verify(). dw_verify_close() in any case. */
int dw_verify_open(struct dw_verify *v, const struct dw_elf *elf, const uint8_t *image, size_t n,
		   struct dw_error *err);

/* Put the area @shift bytes behind where it needs no relocation. 0 or -ENOMEM. */
int dw_verify_place(struct dw_verify *v, int64_t shift);

/* Free everything. */
void dw_verify_close(struct dw_verify *v);

/* The bytes that the module's file has for @svma, *@left of them. NULL = none. */
const uint8_t *dw_verify_module_bytes(const struct dw_verify *v, uint64_t svma, size_t *left);

/* Note a finding about @svma, whose clone is at area offset @clone_at. */
void dw_verify_find(struct dw_verify *v, uint64_t svma, uint32_t clone_at, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));

/* The bytes at @svma, of module or area, *@left of them, NULL: none are loaded. */
const uint8_t *dw_verify_bytes(const struct dw_verify *v, uint64_t svma, size_t *left);

/* The function that holds @svma, cloned or not, NULL = none. */
const struct dw_verify_function *dw_verify_function_at(const struct dw_verify *v, uint64_t svma);

/* Where the clone of the instruction at @svma begins, as svma in the area; 0 = none. At a
 * function's start: behind the prefix with @inside. */
uint64_t dw_verify_clone_of(const struct dw_verify *v, uint64_t svma, bool inside);

/* Whether control that goes to @svma in the module goes to @to instead: the clone, or the same
 * address where there is none. */
bool dw_verify_same_place(const struct dw_verify *v, uint64_t svma, uint64_t to, bool inside);

/* The place that the clone of boundary @svma of @f, an instruction or the end, begins at, as svma
 * in the area, 0 = none. */
uint64_t dw_verify_front_of(const struct dw_verify *v, const struct dw_verify_function *f,
			    uint64_t svma);

/* Whether the call of @trampoline that was found at area offset @at is the next one of the image's
 * list.
 */
bool dw_verify_trampoline_call(struct dw_verify *v, enum dw_trampoline trampoline, uint32_t at);

/* Whether @svma lies in code that linkers make. */
bool dw_verify_is_linkage(const struct dw_elf *elf, uint64_t svma);

/* The parts. Each notes its findings; 0 or -ENOMEM. */

/* The instructions of all clones, and the trampolines. */
int dw_verify_code(struct dw_verify *v);

/* Rows, personalities and LSDAs. */
int dw_verify_unwind(struct dw_verify *v);

/* Patches and kept returns. */
int dw_verify_patches(struct dw_verify *v);

/* What debuggers are shown. Notes its findings, after the functions were read. */
void dw_verify_object(struct dw_verify *v);

/* Final code, after the functions were read. */
int dw_verify_final(struct dw_verify *v);

/*
 * LSDAs: what a personality routine would do, of a module's function or of its clone. The reader
 * answers for one address at a time, in the way personality routines look things up.
 */

/* The tables of one function. */
struct dw_verify_lsda {
	const struct dw_verify *v;
	uint64_t start; /* svma of the function, in the module or in the area */
	uint64_t pads;	/* svma that landing pads count from */
	uint8_t type_encoding;
	uint64_t types;
	uint8_t site_encoding;
	uint64_t sites; /* svma */
	uint64_t actions;
	uint64_t next; /* svma of the first call site that was not yet passed */
};

/* A call site. */
struct dw_verify_site {
	uint64_t start; /* svma */
	uint64_t end;
	uint64_t pad;	 /* 0 = none */
	uint64_t action; /* svma of the first action's record, 0 = none */
};

/* Read the head of the tables at @svma for the function at @start. False: not understood. */
bool dw_verify_lsda_open(const struct dw_verify *v, uint64_t svma, uint64_t start,
			 struct dw_verify_lsda *ret);

/* Read the next call site that has an address in it. False: there are no more. */
bool dw_verify_lsda_next(struct dw_verify_lsda *l, struct dw_verify_site *ret);

/* Whether the chains of actions from @a of @la and @b of @lb on ask for the same types. */
bool dw_verify_same_actions(const struct dw_verify_lsda *la, uint64_t a,
			    const struct dw_verify_lsda *lb, uint64_t b);
