/*
 * Which functions are cloned, which are parts of others, and which get probes.
 */
#pragma once

#include "clone/clone.h"
#include "clone/module.h"

/*
 * Set DWELL_LEFT_NOT_CHOSEN, DWELL_LEFT_START, DWELL_LEFT_INSTRUCTION, DWELL_LEFT_ENTRY_OVERLAP,
 * and the flag DWELL_CLONE_COLD. After decoding. 0 or -ENOMEM.
 */
int dw_clone_choose(struct dw_clone_module *m, const struct dw_clone_options *options);

/* Set the flag DWELL_CLONE_PROBED where @options want probes. After the last reason. */
void dw_clone_choose_probes(struct dw_clone_module *m, const struct dw_clone_options *options);
