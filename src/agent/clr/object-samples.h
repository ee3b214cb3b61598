/*
 * Sampled objects: what the runtime's events tell of them.
 *
 * .NET 10 draws each byte with the same chance, one in DWELL_CLR_DRAW_BYTES. Earlier ones tell of
 * the object that an allocator's every so many bytes fall into. [any-thread]
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct dw_sample {
	uint64_t class;
	uint64_t bytes;
};

/* Ask for samples of one object in @interval bytes, at least DWELL_CLR_DRAW_BYTES, of the runtime
 * of version @major. False: it refuses. */
bool dw_sample_start(uint64_t interval, uint16_t major);

/* Whether the event @number is of a sample to be counted: with @data, @bytes of them. */
bool dw_sample_read(uint32_t number, const uint8_t *data, uint32_t bytes, struct dw_sample *ret);
