/*
 * What keys of call trees (wire/call-tree.h) mean inside the target.
 */
#pragma once

#include <stdint.h>

/* Where a call of @key, of an import or an address, leads now: 0 = not known, or @key is of a
 * function. An import that the loader has not looked up yet leads into its own module. */
uint64_t dw_address_of_key(uint64_t key);

/* As struct dw_agent_part.module_of: an import's module is known once the loader has found it. */
uint32_t dw_module_of_key(uint64_t key);
