/*
 * Language-specific data of functions that catch or clean up. The format is the one that C, C++,
 * Rust, D, Ada and Go of gcc and LLVM share.
 *
 * Input is hostile: everything is checked, and the work on one module is bounded. One thread.
 */
#pragma once

#include "clone/module.h"

#include <stdbool.h>
#include <stdint.h>

/* What to do when an exception passes a range of code. */
struct dw_lsda_site {
	uint64_t start;	 /* svma */
	uint64_t end;	 /* exclusive, > start */
	uint64_t pad;	 /* svma of the landing pad, 0 = none */
	uint64_t action; /* 1 + offset in the action table, 0 = clean up only */
};

struct dw_lsda {
	DW_VEC(struct dw_lsda_site) sites; /* ascending, disjoint */
	uint8_t type_encoding;		   /* DW_EH_PE_*, 0xff = no types */
	uint64_t types_end;		   /* svma: entry n stands n sizes below it */
	uint32_t types_n;
	const uint8_t *actions; /* borrowed, as all bytes below */
	uint32_t actions_n;
	const uint8_t *specs; /* lists of types that negative filters name, from types_end on */
	uint32_t specs_n;
	DW_VEC(uint8_t) seen; /* actions that were followed */
	uint64_t work;	      /* done for all of this module so far */
};

/*
 * Read the data at @svma of @f into @ret, which is zero at first and may be used for one function
 * after the other. 0; DWELL_ERR_UNSUPPORTED (cannot be said of a clone, or not understood);
 * DWELL_ERR_FORMAT; DWELL_ERR_LIMIT; -ENOMEM. dw_lsda_release() in any case.
 */
int dw_lsda_read(const struct dw_clone_module *m, const struct dw_clone_function *f, uint64_t svma,
		 struct dw_lsda *ret);

/* The bytes of one entry of a type table with @encoding. 0: not understood. */
unsigned dw_lsda_type_bytes(uint8_t encoding);

/* Free the memory. */
void dw_lsda_release(struct dw_lsda *lsda);

/*
 * Whether LSDAs for the personality routine that a relocation of the word at @svma names can be
 * read. Also true when no name can be found: the strict reader decides then.
 */
bool dw_personality_is_known(const struct dw_elf *elf, uint64_t svma);
