/*
 * Where the clones of an area call its imports, by import: which one a probe is about stands in the
 * code only, and reading all of it costs milliseconds in a large program.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct dw_area;

#define DWELL_SITE_IS_TAIL (1u << 31)

/* All zero = not listed yet. */
struct dw_import_sites {
	uint32_t *first; /* of each import: place in at; one more than imports */
	uint32_t *at;	 /* offsets of gate calls in the area, ascending for each import, those of
			    tail calls, which have DWELL_SITE_IS_TAIL, last */
	uint64_t bytes;	 /* of both, one piece of the agent's memory */
};

/* List the sites of @area, unless it has been done. False: no memory. Inside dw_agent_enter(). */
bool dw_import_sites_list(struct dw_import_sites *s, const struct dw_area *area);

/* The sites of @import, below the header's imports.n, and in *@end where they end. */
const uint32_t *dw_import_sites_of(const struct dw_import_sites *s, uint32_t import,
				   const uint32_t **end);

/* Give back the memory of @s, which is all zero again. */
void dw_import_sites_release(struct dw_import_sites *s);
