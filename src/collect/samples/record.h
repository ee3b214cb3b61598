/*
 * What a source of samples tells, whichever it is: the kinds and their fields are perf's, which has
 * all of them; other sources fill in the same.
 *
 * Records borrow their stacks, paths and names. [any-thread]
 */
#pragma once

#include "unwind/unwind.h"
#include "wire/interpreter.h"

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What a sample has of the interpreter that its thread runs. Borrowed. */
struct dw_interpreter_sample {
	const struct dw_interpreter_frame *frames; /* innermost first */
	size_t n;
	uint32_t state; /* enum dw_interpreter_state */
	bool is_told;	/* the thread runs one */
};

struct dw_perf_sample {
	uint64_t event; /* that it comes from, where that was asked for */
	uint64_t abi;	/* PERF_SAMPLE_REGS_ABI_* */
	struct dw_unwind_regs regs;
	const uint8_t *stack; /* bytes from regs.r[DWELL_REG_SP] on */
	size_t stack_bytes;
	/* Where the kernel was, innermost first: the address, then return addresses. Borrowed,
	 * maybe not aligned */
	const uint8_t *kernel;
	size_t kernel_n; /* addresses, 0 = it was not, or is not sampled */
	/* The program's stack likewise, where somebody else has walked it: taken as it is if there
	 * are no bytes of it. Borrowed */
	const uint64_t *user;
	size_t user_n;
	struct dw_interpreter_sample interpreter;
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

/* What becomes of a thread. */
enum dw_switch {
	DWELL_SWITCH_ON,	/* it is given a processor */
	DWELL_SWITCH_OFF,	/* it leaves it because it waits */
	DWELL_SWITCH_PREEMPTED, /* it is taken from it */
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
		} parent;	   /* PERF_RECORD_FORK, PERF_RECORD_EXIT */
		enum dw_switch to; /* PERF_RECORD_SWITCH */
		uint64_t lost;	   /* PERF_RECORD_LOST, PERF_RECORD_LOST_SAMPLES: how many */
	};
};
