/*
 * Imported functions that look at return addresses further up than their own.
 */
#pragma once

#include "clone/module.h"

/*
 * Whether the module was built to count its calls itself (-pg): what it calls in each function, of
 * the C library, looks up both its own return address and its caller's. No section of dynamic
 * symbols, or a broken one: false.
 */
bool dw_counts_itself(const struct dw_clone_module *m);
