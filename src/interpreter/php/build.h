/*
 * Which PHP a process has: its version stands in every module that is registered, and so does
 * whether it was built for threads or for debugging. [async-signal-safe] as far as reading is.
 */
#pragma once

#include "interpreter/memory.h"
#include "interpreter/php/layout.h"

#include <stdbool.h>
#include <stdint.h>

/* Whether @registry, module_registry, has modules by now: *@ret is their build's layout, NULL = its
 * frames cannot be read. */
bool dw_php_identify(struct dw_interpreter_memory *m, uint64_t registry,
		     const struct dw_php_layout **ret);
