/*
 * Deciding about a module that was read: what is cloned, where probes stand, how the module's own
 * code is left. clone.c has the order of the steps.
 *
 * Patches overwrite the module's own code with jumps to clones. A jump takes five bytes. Nothing
 * may lead to the last four of them: no branch of code that may still run in the module, no address
 * that anything knows. Where an entry has no such room, two bytes hop to padding nearby that holds
 * the jump.
 */
#pragma once

#include "base/vec.h"
#include "clone/clone.h"
#include "clone/module.h"

#include <stdbool.h>
#include <stdint.h>

/*
 * Set DWELL_LEFT_NOT_CHOSEN, DWELL_LEFT_START, DWELL_LEFT_INSTRUCTION, DWELL_LEFT_ENTRY_OVERLAP,
 * and the flag DWELL_CLONE_COLD. After decoding. 0 or -ENOMEM.
 */
int dw_clone_choose(struct dw_clone_module *m, const struct dw_clone_options *options);

/*
 * Set DWELL_MARK_SYSTEM_CALL in images with such probes. With DWELL_PROBES_SYSTEM_CALLS functions
 * without marks get DWELL_LEFT_NOT_CHOSEN. After dw_clone_choose(). 0 or -ENOMEM.
 */
int dw_system_calls_find(struct dw_clone_module *m);

/* Set DWELL_LEFT_UNWIND on functions whose CIE, FDE or LSDA cannot be rewritten, and m->pads. 0 or
 * -ENOMEM. */
int dw_clone_unwind_check(struct dw_clone_module *m);

/*
 * Set reasons of functions, and DWELL_MARK_KEEP_RETURN for calls whose return address must be the
 * original one. Wants the plan of indirect jumps: entries of their tables are no return addresses.
 * 0 or -ENOMEM.
 */
int dw_hazards_find(struct dw_clone_module *m);

/* A patch whose target is not yet known. */
struct dw_planned_patch {
	struct dw_clone_patch patch;
	uint32_t insn; /* it brings back the kept return in front of this instruction; UINT32_MAX:
			  it leads to the clone of the function */
};

struct dw_patches {
	DW_VEC(struct dw_planned_patch) list; /* sorted by place */
};

/*
 * Plan the patches of all functions that are to be cloned, with what reason is set so far; sets
 * DWELL_LEFT_NO_ROOM, DWELL_LEFT_RETURN_ADDRESS and the flag DWELL_CLONE_REDIRECTED. 0 or -ENOMEM.
 * dw_patches_release() in any case.
 */
int dw_patches_plan(struct dw_clone_module *m, struct dw_patches *ret);

/* Free the memory. */
void dw_patches_release(struct dw_patches *p);

/* Set the flag DWELL_CLONE_PROBED where @options want probes. After the last reason. */
void dw_clone_choose_probes(struct dw_clone_module *m, const struct dw_clone_options *options);

/*
 * Set DWELL_MARK_OUT, DWELL_MARK_OUT_POINTER, DWELL_MARK_RETURN and DWELL_MARK_LANDING, m->imports,
 * and the flag DWELL_CLONE_TAILS_OUT, after the last reason and choice of probes. 0 or -ENOMEM.
 */
int dw_calls_out_find(struct dw_clone_module *m);

/*
 * Set m->statements and their marks: of those that @options ask for what begins an instruction of a
 * function with probes, but not the function itself; of several in a row of one line the first,
 * where nothing jumps to the others from another line. After dw_calls_out_find(). 0 or -ENOMEM.
 */
int dw_statements_find(struct dw_clone_module *m, const struct dw_clone_options *options);

/* Count the system calls in m->system_calls and m->system_calls_left, after the last reason. */
void dw_system_calls_count(struct dw_clone_module *m);

/* The index in m->imports of the callee of @insn at @at, which is marked DWELL_MARK_OUT. */
uint32_t dw_calls_out_import(const struct dw_clone_module *m, const struct dw_insn *insn,
			     uint64_t at);

/* The svma of the word that the PLT entry at @svma jumps through. 0: there is no such entry. */
uint64_t dw_calls_out_stub(const struct dw_clone_module *m, uint64_t svma);

/* The index in m->statements of instruction @i at @svma, which is marked. */
uint32_t dw_statement_index(const struct dw_clone_module *m, uint64_t svma);

/* Whether going from the measured @f to @to ends its activation: to the start of another function,
 * or to another module. Elsewhere the red zone may be in use, and a part of @f may go on. */
bool dw_clone_leaves_to(const struct dw_clone_module *m, const struct dw_clone_function *f,
			uint64_t to);

/* Whether instruction @i is the last one of @f and may go on behind it. */
bool dw_clone_goes_on_behind(const struct dw_clone_module *m, const struct dw_clone_function *f,
			     uint32_t i);

/* Whether the clone of instruction @i, of @f at svma @at, or the jump behind the last one calls the
 * leaving trampoline and then goes from where the stack has nothing in use below rsp. */
bool dw_clone_leaves(const struct dw_clone_module *m, const struct dw_clone_function *f, uint32_t i,
		     uint64_t at);

/* What the code of functions does that cannot be done elsewhere. */

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

/* What @f does, bits of enum dw_slot_use. *@by_kernel: it is a frame that the kernel
 * enters, or where a thread begins: a probe would look for a return address where nothing need be
 * mapped. */
unsigned dw_slot_use(struct dw_slot_reader *r, const struct dw_clone_function *f, bool *by_kernel);

/* Whether @f loads the stack pointer with what may be another stack's: a register that it has not
 * copied the stack pointer to, or a word of memory that is not of its frame. */
bool dw_switches_stacks(const struct dw_clone_module *m, const struct dw_clone_function *f);
