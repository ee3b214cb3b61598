/*
 * Methods with probes of one .NET process: what their keys mean, as its agent tells in its region.
 *
 * Told before they run, so a key that is not known is one that was told since the last reading.
 * What makes no sense is a key that is not known. One thread.
 */
#pragma once

#include "base/map.h"
#include "collect/clr/metadata.h"

#include <stdbool.h>
#include <stdint.h>

struct dw_call_methods {
	struct dw_clr_tables tables;
	struct dw_clr_metadata metadata;
	struct dw_map rows; /* key -> row of its method */
	uint32_t taken;	    /* rows of DWELL_CLR_PROBED */
	bool is_there;	    /* a runtime has the agent */
};

/* Begin for a process of @p (borrowed). @m does not move until it is released. */
void dw_call_methods_init(struct dw_call_methods *m, struct dw_profile *p);

/* Read what has come in the region @fd, whose head was just read. 0, also where there is no
 * runtime, else as dw_clr_tables_more(). */
int dw_call_methods_read(struct dw_call_methods *m, int fd, const struct dw_region_head *head);

/* The frame of the method of @key, 0 = none is known. 0 or -ENOMEM. */
int dw_call_methods_frame(struct dw_call_methods *m, uint64_t key, uint32_t *ret);

/* What the agent says of itself. */
static inline uint64_t dw_call_methods_fact(const struct dw_call_methods *m, enum dw_clr_fact fact)
{
	return m->tables.head.facts[fact];
}

/* Whether @ip lies in the code that probes run. */
bool dw_call_methods_is_probe(const struct dw_call_methods *m, uint64_t ip);

/* Free everything. */
void dw_call_methods_release(struct dw_call_methods *m);
