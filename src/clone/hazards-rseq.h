/*
 * Restartable sequences: code that the kernel takes a thread out of by its address.
 */
#pragma once

#include "clone/module.h"

/* Set DWELL_LEFT_RESTARTABLE on functions that hold a sequence or its abort handler. 0 or -ENOMEM.
 */
int dw_rseq_find(struct dw_clone_module *m);
