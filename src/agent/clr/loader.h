/*
 * What the agent, which comes late by dlopen(), takes from the program's modules. Reads the
 * loader's tables: while they do not change, as in Initialize. Takes no lock.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct dw_loader_module {
	uint64_t start, end; /* of its segments */
	uint64_t tls_id;     /* 0 = it has no thread-local storage */
	uint64_t tls_bytes;
	uint64_t unwind_start, unwind_end; /* of the segment with its unwind tables, equal = none */
};

/* The module that @address lies in. False: none. */
bool dw_loader_module_at(const void *address, struct dw_loader_module *ret);

/* Where the @n bytes at @mark stand in the variables of the program itself, @before bytes of which
 * stand before them. NULL = nowhere. */
const uint8_t *dw_loader_find_in_program(const uint8_t *mark, uint32_t n, uint32_t before);
