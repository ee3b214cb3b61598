/*
 * Layout of a compiled unwind table, and the lookup that the unwinder inlines.
 *
 * A row says where the caller's frame is. A module has few different ones, and many starts: from
 * which address on which row holds, until the next start; that of the last one says NONE. Starts
 * are sorted. A page index leads to the few starts near an address without a search through all,
 * and knows the upper half of their addresses. These are svma less the table's base, so a module
 * may span 4 GB. Nothing here is visible outside src/code/cfi and src/unwind. The same layout
 * stands in cache files, so a change of meaning must change DWELL_CFI_VERSION.
 */
#pragma once

#include "code/cfi/fdes.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { DWELL_CFI_VERSION = 2, DWELL_CFI_SHIFT_MAX = 16 };

/* From an address on, whose lower half is @pc: row number @row. */
struct dw_cfi_start {
	uint16_t pc;
	uint16_t row;
};

/*
 * Where the caller's frame is.
 *
 * The low two bits of cfa are a DWELL_ROW_* kind, the rest, shifted down, is the kind's number.
 * For SP and FP: CFA = register + number * 8, the return address is at CFA + DWELL_RETURN_AT, and
 * fp is the caller's when 0, else it is saved at CFA + fp * 8. For DEREF (a realigned stack): CFA =
 * the word at fp + number * 8, and fp is saved at fp + fp * 8. For SPECIAL the number is a
 * DWELL_ROW_* below.
 */
struct dw_cfi_row {
	int16_t cfa;
	int16_t fp;
};

enum { DWELL_ROW_SP, DWELL_ROW_FP, DWELL_ROW_DEREF, DWELL_ROW_SPECIAL };

enum {
	DWELL_ROW_NONE,	   /* no unwind information */
	DWELL_ROW_END,	   /* the return address is undefined: outermost frame */
	DWELL_ROW_COMPLEX, /* ask dw_cfi_table_rules() */
	DWELL_ROW_PLT,	   /* CFA = sp + 8, and 8 more from byte number fp of a 16-byte stub on */
};

/* Where the FDE for addresses from pc on stands, until the next one. */
struct dw_cfi_fde_index {
	uint32_t pc;
	uint32_t where; /* offset * 2 + section kind */
};

struct dw_cfi_table {
	const struct dw_cfi_start *starts; /* the row of the last one is NONE */
	const struct dw_cfi_fde_index *fdes;
	const uint32_t *pages; /* by pc >> shift: the first start in it or behind it */
	const struct dw_cfi_row *rows;
	uint64_t base; /* svma of pc 0 */
	uint32_t starts_n;
	uint32_t fdes_n;
	uint32_t pages_n; /* one more than pages with starts, so that pages[p + 1] exists */
	uint32_t rows_n;
	uint32_t shift; /* at most DWELL_CFI_SHIFT_MAX */
	/* Not in cache files: the code without rows that the kernel enters, as glibc's loader has
	 * it. Empty = the entry has rows, or there is none. */
	struct dw_cfi_range entry;
	struct dw_cfi_section sections[DWELL_CFI_SECTIONS];
	void *memory;			    /* what all of this stands in */
	size_t mapped_bytes;		    /* memory is a mapping of that size; 0 = from malloc */
	uint8_t *owned[DWELL_CFI_SECTIONS]; /* section bytes from malloc, or NULL */
};

/* The row for @svma. Always one: outside the table that of the last start, which says NONE. */
static inline const struct dw_cfi_row *dw_cfi_table_find(const struct dw_cfi_table *t,
							 uint64_t svma)
{
	uint64_t pc = svma - t->base, page = pc >> t->shift;
	uint32_t lo = t->starts_n, hi = lo;

	if (page < t->pages_n - 1) {
		lo = t->pages[page];
		hi = t->pages[page + 1];
	}
	while (lo < hi) { /* the first start of [lo, hi) past us; the first of all never is */
		uint32_t mid = lo + (hi - lo) / 2;

		if (t->starts[mid].pc <= (uint16_t)pc)
			lo = mid + 1;
		else
			hi = mid;
	}
	return &t->rows[t->starts[lo - 1].row];
}

/*
 * The full rules for @svma into *@rules, from the module's own entry. *@signal = the frame is a
 * signal frame. Rules borrow from @t. 0; DWELL_ERR_NOT_FOUND; DWELL_ERR_FORMAT.
 */
int dw_cfi_table_rules(const struct dw_cfi_table *t, uint64_t svma, struct dw_cfi_rules *rules,
		       bool *signal);

/*
 * Compile what t->sections hold, for code in @spans, into the rest of @t (all in one block, t->
 * memory). 0; DWELL_ERR_NOT_FOUND (no usable entry); DWELL_ERR_LIMIT; -ENOMEM.
 */
int dw_cfi_compile(struct dw_cfi_table *t, const struct dw_cfi_spans *spans);

/* Bytes of the block that holds the rows, indexes and pages of @t. */
size_t dw_cfi_table_block_bytes(const struct dw_cfi_table *t);

/* Point rows, fdes and pages of @t, whose numbers are set, into @block. */
void dw_cfi_table_place(struct dw_cfi_table *t, const char *block);
