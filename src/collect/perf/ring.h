/*
 * Perf's mmap'd rings: reading one, and reading many in the order of time.
 *
 * Records are borrowed from the ring itself until they are consumed, so a stack dump is never
 * copied (but for a record that wraps around the end). The kernel writes on while we read. One
 * thread at a time.
 */
#pragma once

#include "base/vec.h"

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct dw_ring {
	struct perf_event_mmap_page *page; /* NULL = closed */
	const uint8_t *data;
	uint64_t bytes;	    /* of data, a power of two */
	uint64_t head;	    /* as last read from the kernel */
	uint64_t tail;	    /* next record */
	uint64_t next_ns;   /* time of the next record, UINT64_MAX = none before head */
	uint8_t *assembled; /* owned: the record that wraps around, NULL until there was one */
	size_t next_bytes;  /* of the next record */
	uint64_t dropped;   /* records, or all that there was at once, which could not be read */
	bool mapped;	    /* page is ours to unmap */
	bool side;	    /* carries side-band records rather than samples */
};

/* All rings of a recording. Side-band rings come first, see dw_rings_next(). */
struct dw_rings {
	DW_VEC(struct dw_ring) v;
};

/* Map @bytes (a power of two, at least a page) of ring for the event @fd. 0 or -errno (-EPERM: the
 * limit of locked memory). */
int dw_ring_open(struct dw_ring *r, int fd, size_t bytes);

/* Read from @page and @data, borrowed, instead of from the kernel. */
void dw_ring_init(struct dw_ring *r, struct perf_event_mmap_page *page, const uint8_t *data,
		  size_t bytes);

/* See what the kernel has written by now. */
void dw_ring_refresh(struct dw_ring *r);

/* The next record, contiguous, borrowed until it is consumed. NULL when there is none. */
const void *dw_ring_peek(struct dw_ring *r, size_t *ret_bytes);

/*
 * The record behind the next one, borrowed until that is consumed; and have the processor fetch the
 * beginning and the end of what stands behind it. NULL when it is not there yet or not in one
 * piece.
 */
const void *dw_ring_peek_behind(const struct dw_ring *r, size_t *ret_bytes);

/* Give the room of the next record back to the kernel. */
void dw_ring_consume(struct dw_ring *r);

/* Unmap and free. */
void dw_ring_close(struct dw_ring *r);

/* See what the kernel has written in all rings by now. */
void dw_rings_refresh(struct dw_rings *rings);

/*
 * The ring whose next record is the oldest of all and not later than @limit_ns, borrowed; at equal
 * times the first ring of the array. NULL = none.
 */
struct dw_ring *dw_rings_next(struct dw_rings *rings, uint64_t limit_ns);

/* Close all. */
void dw_rings_release(struct dw_rings *rings);
