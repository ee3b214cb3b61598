/*
 * Reading a region that a hostile program writes: copies, checked, or nothing.
 *
 * The file may change, shrink, or be garbage at any moment. Everything is pread() into memory of
 * our own, never mapped; every count and offset is checked in the copy that is used. Descriptors
 * are borrowed. Pure functions of the file. [any-thread]
 */
#pragma once

#include "base/error.h"
#include "wire/region.h"

#include <stddef.h>
#include <stdint.h>

enum { DWELL_REGION_COUNTS_MAX = 1 << 23 }; /* functions of one module */

/* The header without its tables. Counts fit the tables. */
struct dw_region_head {
	uint32_t state; /* enum dw_region_state */
	uint32_t off_reason;
	uint32_t pid; /* as the target says */
	uint32_t parent_pid;
	uint32_t is_fork;
	uint32_t module_n;
	uint32_t chunk_n;
	uint64_t start_ns;
	uint64_t agent_start_ns;
	uint64_t drops[DWELL_DROP_N];
	struct dw_region_moment start, end; /* what follows: as struct dw_region_header */
	uint64_t end_cpu_ns;
	uint64_t arena_base;
	uint32_t arena_lines;
	uint32_t threads_n; /* at most DWELL_REGION_THREADS */
	int32_t probe_cost[DWELL_PROBE_KINDS];
	int32_t pass_cost;
	uint64_t measured_ns;
	uint32_t os_sources[DWELL_OS_SOURCES];
	uint32_t system_calls_seen;
	uint32_t disabled_done, disabled_error;
	uint8_t maker[sizeof((struct dw_region_header *)0)->maker];
};

/*
 * Read the header of the region @fd. 0; DWELL_ERR_NOT_FOUND (too short, or not written yet);
 * DWELL_ERR_UNSUPPORTED (another version of dwell); DWELL_ERR_FORMAT; -errno.
 */
int dw_region_read_head(int fd, struct dw_region_head *ret);

/* Read modules[@i] (@i < DWELL_REGION_MODULES). Its path ends within its array. Codes as above. */
int dw_region_read_module(int fd, uint32_t i, struct dw_region_module *ret);

/* Read chunks[@i] (@i < DWELL_REGION_CHUNKS). Its bytes lie behind the header and below 2^63,
 * though not certainly in the file. Codes as above. */
int dw_region_read_chunk(int fd, uint32_t i, struct dw_region_chunk *ret);

/* Read threads[] from 0 on, @n (at most DWELL_REGION_THREADS) of them. Codes as above. */
int dw_region_read_threads(int fd, uint32_t *ret, uint32_t n);

/* Read all @n bytes at offset @at, below 2^63. 0; DWELL_ERR_NOT_FOUND when the file is too short;
 * -errno. */
int dw_region_read_bytes(int fd, void *buf, size_t n, uint64_t at);

/*
 * Add the counts of @m, which must be @n of them, to @sums. 0; DWELL_ERR_NOT_FOUND (it has none);
 * DWELL_ERR_FORMAT (other than @n, or not in the file); -ENOMEM; -errno.
 */
int dw_region_add_counts(int fd, const struct dw_region_module *m, uint32_t n, uint64_t *sums);

/*
 * Write answers[@i]: the heartbeat, the path (NULL = none; shorter than DWELL_REGION_PATH), then
 * the state. A file that the target has truncated grows again, which harms nobody. 0 or -errno.
 */
int dw_region_write_answer(int fd, uint32_t i, uint32_t state, uint32_t heartbeat,
			   const char *path);

/* Write tree_room. 0 or -errno. */
int dw_region_write_room(int fd, uint64_t bytes);

/* Write the @n @disable_keys that are not measured from the start in module @i to place @from of
 * the region's list, before its answer. 0 or -errno. */
int dw_region_write_predisabled(int fd, uint32_t i, const uint32_t *disable_keys, uint32_t from,
				uint32_t n);

/*
 * Read what is disabled in the region: *@ended and *@n (at most DWELL_REGION_DISABLED) as in struct
 * dw_region_disabled, @keys has room for all. Codes as above.
 */
int dw_region_read_disabled(int fd, uint32_t *keys, uint32_t *n, uint32_t *ended);

/*
 * Write what is to be disabled: of @n @keys (at most DWELL_REGION_DISABLED) those from @from on are
 * new. Then @ended, then @serial. 0 or -errno.
 */
int dw_region_write_disabled(int fd, const uint32_t *keys, uint32_t from, uint32_t n,
			     uint32_t ended, uint32_t serial);
