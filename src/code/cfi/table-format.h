/*
 * Layout of a compiled unwind table, and the lookup that the unwinder inlines.
 *
 * Rows are sorted by pc; each holds until the next one, the last one says NONE. A page index leads
 * to the few rows of an address without a search through all. Addresses are svma less the table's
 * base, so a module may span 4 GB. Nothing here is visible outside src/code/cfi and src/unwind. The
 * same layout stands in cache files, so a change of meaning must change DWELL_CFI_VERSION.
 */
#pragma once

#include "code/cfi/program.h"
#include "code/cfi/sections.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { DWELL_CFI_VERSION = 1 };

/*
 * From address pc on: where the caller's frame is.
 *
 * The low two bits of cfa are a DWELL_ROW_* kind, the rest, shifted down, is the kind's number.
 * For RSP and RBP: CFA = register + number * 8, the return address is at CFA - 8, and rbp is the
 * caller's when 0, else it is saved at CFA + rbp * 8. For DEREF (a realigned stack): CFA = the word
 * at rbp + number * 8, and rbp is saved at rbp + rbp * 8. For SPECIAL the number is a DWELL_ROW_*
 * below.
 */
struct dw_cfi_row {
	uint32_t pc;
	int16_t cfa;
	int16_t rbp;
};

enum { DWELL_ROW_RSP, DWELL_ROW_RBP, DWELL_ROW_DEREF, DWELL_ROW_SPECIAL };

enum {
	DWELL_ROW_NONE,	   /* no unwind information */
	DWELL_ROW_END,	   /* the return address is undefined: outermost frame */
	DWELL_ROW_COMPLEX, /* ask dw_cfi_table_rules() */
	DWELL_ROW_PLT,	   /* CFA = rsp + 8, and 8 more from byte number rbp of a 16-byte stub on */
};

/* Where the FDE for addresses from pc on stands, until the next one. */
struct dw_cfi_fde_index {
	uint32_t pc;
	uint32_t where; /* offset * 2 + section kind */
};

struct dw_cfi_table {
	const struct dw_cfi_row *rows; /* the last one is NONE */
	const uint32_t *pages; /* by pc >> shift: the row that holds for the page's first byte */
	const struct dw_cfi_fde_index *fdes;
	uint64_t base; /* svma of pc 0 */
	uint32_t rows_n;
	uint32_t pages_n; /* one more than pages with rows, so that pages[p + 1] exists */
	uint32_t fdes_n;
	uint32_t shift;
	struct dw_cfi_section sections[DWELL_CFI_SECTIONS];
	void *memory;			    /* what all of this stands in */
	size_t mapped_bytes;		    /* memory is a mapping of that size; 0 = from malloc */
	uint8_t *owned[DWELL_CFI_SECTIONS]; /* section bytes from malloc, or NULL */
};

/* The row for @svma. Always one: addresses outside the table get the last row, which says NONE. */
static inline const struct dw_cfi_row *dw_cfi_table_find(const struct dw_cfi_table *t,
							 uint64_t svma)
{
	uint64_t pc = svma - t->base, page = pc >> t->shift;
	uint32_t lo, hi;

	if (page >= t->pages_n - 1)
		return &t->rows[t->rows_n - 1];
	lo = t->pages[page];
	hi = t->pages[page + 1];
	while (lo < hi) { /* the last row of [lo, hi] whose pc is not past ours */
		uint32_t mid = hi - (hi - lo) / 2;

		if (t->rows[mid].pc <= pc)
			lo = mid;
		else
			hi = mid - 1;
	}
	return &t->rows[lo];
}

/*
 * The full rules for @svma into *@rules, from the module's own entry. *@signal = the frame is a
 * signal frame. Rules borrow from @t. 0; DWELL_ERR_NOT_FOUND; DWELL_ERR_FORMAT.
 */
int dw_cfi_table_rules(const struct dw_cfi_table *t, uint64_t svma, struct dw_cfi_rules *rules,
		       bool *signal);
