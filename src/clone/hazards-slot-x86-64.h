/*
 * What functions do with the place on the stack that holds their return address.
 */
#pragma once

#include "clone/module.h"
#include "code/cfi/entry.h"

/* A helper may have unwind rules that skip its own frame: the top of the stack at its start is not
 * the return address by the rules, yet one when it is called. What it does to that one is told by
 * the same bits, shifted. */
enum { DWELL_SLOT_MASK = 3, DWELL_SLOT_WHEN_CALLED_SHIFT = 2 };

enum dw_slot_use {
	DWELL_SLOT_UNTOUCHED = 0,
	DWELL_SLOT_READ = 1,	/* its value is looked at, as an address to know the caller by */
	DWELL_SLOT_CHANGED = 2, /* or computed with, or what it points to is read */
};

/* Reads the unwind entries of @m, all else zero-initialised. */
struct dw_slot_reader {
	const struct dw_clone_module *m;
	struct dw_cfi_reading entry;
};

/* What @f does, bits of enum dw_slot_use. *@by_kernel: it is a frame that the kernel enters. */
unsigned dw_slot_use(struct dw_slot_reader *r, const struct dw_clone_function *f, bool *by_kernel);
