/*
 * What keys of call trees (wire/call-tree.h) mean inside the target.
 */
#pragma once

#include <stdint.h>

/* As struct dw_agent_part.module_of: an import's module is known once the loader has found it. */
uint32_t dw_module_of_key(uint64_t key);
