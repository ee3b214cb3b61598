/*
 * What makes a function unsafe to clone, found before anything is emitted.
 *
 * Return addresses that the program looks up (words of data that hold addresses behind calls;
 * languages whose runtimes keep tables of them), callees that read, change or pop their return
 * address, bytes after a call that are not code, restartable sequences, branches into the middle of
 * instructions or into a function's own entry by call, instructions that cannot be moved. Rule:
 * what is not proven safe is left alone with its reason.
 */
#pragma once

#include "clone/module.h"

/*
 * Set reasons of functions, and DWELL_CALL_KEEP_RETURN for calls whose return address must be the
 * original one and can be (five bytes behind the call are code of the same function, no branch
 * leads between them). 0 or -ENOMEM.
 */
int dw_hazards_find(struct dw_clone_module *m);
