/*
 * What the code of functions does that cannot be done elsewhere, known by its bytes.
 */
#pragma once

#include "clone/module.h"
#include "code/cfi/entry.h"

/* Set DWELL_LEFT_RESTARTABLE on functions that hold a restartable sequence, which the kernel takes
 * a thread out of by its address, or its abort handler. 0 or -ENOMEM. */
int dw_rseq_find(struct dw_clone_module *m);

/* Set DWELL_LEFT_TEMPLATE on functions that their program never runs in place but
 * copies elsewhere. After decoding. */
void dw_templates_find(struct dw_clone_module *m);

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

/* Whether @f loads the stack pointer with what may be another stack's: a register that it has not
 * copied the stack pointer to, or a word of memory that is not of its frame. */
bool dw_switches_stacks(const struct dw_clone_module *m, const struct dw_clone_function *f);
