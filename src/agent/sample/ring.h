/*
 * Writing records into the ring: take a place, fill it, end it. Any number of threads at a time,
 * none waits for another. [async-signal-safe] [any-thread]
 */
#pragma once

#include "agent/sample/sampling.h"

/* A record that is being written. */
struct dw_ring_place {
	uint64_t position;
	struct dw_sample_record *record;
};

/* Take a place for a record of @kind with room for @room bytes of content. False: there is none. */
bool dw_ring_begin(struct dw_ring_place *place, uint32_t kind, uint32_t room);

/* Write @n bytes of @from at @offset of the content, within its room. */
void dw_ring_write(const struct dw_ring_place *place, uint32_t offset, const void *from,
		   uint32_t n);

/* Copy @n bytes of this process's memory at @address, which may not be there, to @offset of the
 * content. How many could be copied, from the first on. */
uint32_t dw_ring_copy(const struct dw_ring_place *place, uint32_t offset, uint64_t address,
		      uint32_t n);

/* The record is whole, with @content bytes. */
void dw_ring_end(const struct dw_ring_place *place, uint32_t content);
