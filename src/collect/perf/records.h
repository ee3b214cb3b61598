/*
 * Records of perf rings, decoded: the kinds that dwell's own events produce, with the layout that
 * their attributes ask for (events.c).
 *
 * Bytes are not trusted: every length is checked against the record. Decoded records borrow from
 * the record's bytes. [any-thread]
 */
#pragma once

#include "unwind/unwind.h"

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Registers of a sample: all 17, by perf's numbers. */
#define DWELL_PERF_REGS_MASK 0xff01ffull

/* What both kinds of event ask for, thus what stands behind every record that is no sample. */
#define DWELL_PERF_SIDE_TYPE (PERF_SAMPLE_TID | PERF_SAMPLE_TIME)
#define DWELL_PERF_SAMPLE_TYPE                                                         \
	(PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_REGS_USER | \
	 PERF_SAMPLE_STACK_USER)

struct dw_perf_sample {
	uint64_t abi; /* PERF_SAMPLE_REGS_ABI_* */
	struct dw_unwind_regs regs;
	const uint8_t *stack; /* bytes from regs.r[DWELL_REG_RSP] on */
	size_t stack_bytes;
};

struct dw_perf_mapping {
	uint64_t start; /* avma */
	uint64_t bytes;
	uint64_t offset; /* in the file */
	uint32_t major_no;
	uint32_t minor_no;
	uint64_t inode;
	uint64_t generation; /* of the inode */
	const char *path;
};

struct dw_perf_record {
	uint32_t type;	  /* PERF_RECORD_* */
	uint64_t time_ns; /* CLOCK_MONOTONIC */
	int32_t pid;
	int32_t tid;
	union {
		struct dw_perf_sample sample;	/* PERF_RECORD_SAMPLE */
		struct dw_perf_mapping mapping; /* PERF_RECORD_MMAP2 */
		struct {
			const char *name;
			bool exec;
		} comm; /* PERF_RECORD_COMM */
		struct {
			int32_t pid;
			int32_t tid;
		} parent;      /* PERF_RECORD_FORK, PERF_RECORD_EXIT */
		uint64_t lost; /* PERF_RECORD_LOST, PERF_RECORD_LOST_SAMPLES: how many */
	};
};

/*
 * The time of the record @p of @n bytes, header included, without decoding it. 0 when it is too
 * short to have one.
 */
uint64_t dw_perf_record_time(const void *p, size_t n);

/* Decode the record @p of @n bytes, header included. 0; DWELL_ERR_FORMAT; DWELL_ERR_UNSUPPORTED for
 * kinds that are of no interest. */
int dw_perf_record_decode(const void *p, size_t n, struct dw_perf_record *ret);
