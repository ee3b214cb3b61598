/*
 * What makes a function unsafe to clone, found before anything is emitted.
 *
 * Return addresses that the program looks up (words of data that hold addresses behind calls;
 * languages whose runtimes keep tables of them), callees that read, change or pop their return
 * address, calls into a function's own middle, restartable sequences, code that the kernel enters.
 * Rule: what is not proven safe is left alone with its reason.
 */
#pragma once

#include "clone/module.h"

/*
 * Set reasons of functions, and DWELL_MARK_KEEP_RETURN for calls whose return address must be the
 * original one. Wants the plan of indirect jumps: entries of their tables are no return addresses.
 * 0 or -ENOMEM.
 */
int dw_hazards_find(struct dw_clone_module *m);
