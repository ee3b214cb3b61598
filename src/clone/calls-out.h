/*
 * Calls that leave the instrumented code, for images that measure time: which are probed and as
 * what, the list of callees that they call by name, and landing pads.
 *
 * A call of a cloned function has no probes around it, the callee has its own; neither has one of
 * a function that was not chosen. What was left alone for safety, has no unwind entry or is reached
 * through a PLT entry or a word that the loader fills is an import; every other callee is known by
 * its address at run time.
 */
#pragma once

#include "clone/module.h"

/*
 * Set DWELL_MARK_OUT, DWELL_MARK_OUT_POINTER, DWELL_MARK_BACK and DWELL_MARK_LANDING, m->imports,
 * and the flag DWELL_CLONE_TAILS_OUT, after the last reason and choice of probes. 0 or -ENOMEM.
 */
int dw_calls_out_find(struct dw_clone_module *m);

/* The index in m->imports of the callee of @insn at @at, which is marked DWELL_MARK_OUT. */
uint32_t dw_calls_out_import(const struct dw_clone_module *m, const struct dw_insn *insn,
			     uint64_t at);

/* The svma of the word that the PLT entry at @svma jumps through. 0: there is no such entry. */
uint64_t dw_calls_out_stub(const struct dw_clone_module *m, uint64_t svma);
