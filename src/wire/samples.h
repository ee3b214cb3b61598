/*
 * Samples taken inside a target: a ring in a chunk of its region (DWELL_REGION_CHUNK_SAMPLES),
 * written by all threads of the process, read by the collector.
 *
 * The chunk begins with a page that holds struct dw_sample_ring; the ring follows. A position
 * counts bytes since the ring was made; it stands at its remainder by the ring's size, a power of
 * two, and records wrap around. A writer takes its place by raising @head, then writes the record
 * with the seal of its beginning, its contents, and the seal of its end (release). A record that
 * was begun and will never be ended (its task was killed inside) can be left out by its length. The
 * collector writes @tail.
 */
#pragma once

#include <stdint.h>

enum {
	DWELL_SAMPLE_PAGE = 4096, /* of struct dw_sample_ring */
	DWELL_SAMPLE_REGS = 17,	  /* by DWARF number: rax, rdx, rcx, rbx, rsi, rdi, rbp, rsp, r8 to
				     r15, rip */
	DWELL_SAMPLE_ALIGN = 32,  /* of records, so that struct dw_sample_record never wraps */
	DWELL_SAMPLE_STACK_MAX = 64 << 10,
	DWELL_SAMPLE_RING_MAX = 64 << 20,
	DWELL_SAMPLE_MAPS_MAX = 256 << 10, /* bytes of such a text */
};

/* Why a process takes no samples any more. */
enum dw_sample_off {
	DWELL_SAMPLE_ON,
	DWELL_SAMPLE_OFF_SIGNAL, /* it uses all signals that may be the sampler's */
	DWELL_SAMPLE_OFF_FILTER, /* it has forbidden itself system calls */
	DWELL_SAMPLE_OFF_TIMER,	 /* the kernel refused the timer or its handler */
	DWELL_SAMPLE_OFF_TRACED, /* it asked to be traced: its tracer sees each signal */
	DWELL_SAMPLE_OFF_N,
};

struct dw_sample_ring {
	uint64_t bytes;		  /* of the ring; 0 = not ready yet */
	uint64_t head;		  /* the next record's position */
	uint64_t lost;		  /* samples without room */
	uint64_t threads_refused; /* that take no samples: no timer, or too many of them */
	uint32_t off;		  /* enum dw_sample_off */
	uint32_t unused;
	uint64_t tail __attribute__((aligned(64))); /* all before it was read */
};

enum dw_sample_kind {
	DWELL_SAMPLE_STACK = 1, /* registers (uint64 by number), then the stack from rsp on */
	DWELL_SAMPLE_THREAD,	/* a thread begins: what its variables lie around (uint64) */
	DWELL_SAMPLE_MAPS,	/* the text of /proc/PID/maps */
	/* Of interpreters, see wire/interpreter.h. */
	DWELL_SAMPLE_INTERPRETER,	/* struct dw_interpreter_runtime */
	DWELL_SAMPLE_INTERPRETER_CODE,	/* struct dw_interpreter_code */
	DWELL_SAMPLE_INTERPRETER_STACK, /* struct dw_interpreter_stack, then as DWELL_SAMPLE_STACK
					 */
};

struct dw_sample_record {
	uint64_t seal;
	uint32_t bytes;	  /* to the next record */
	uint32_t content; /* bytes behind this struct that mean something */
	uint32_t kind;	  /* enum dw_sample_kind */
	int32_t tid;	  /* as the target sees it */
	uint64_t time_ns; /* CLOCK_MONOTONIC */
};

_Static_assert(sizeof(struct dw_sample_record) == 32, "layout");

/* The seal of the record at @position once it is whole; odd. What an older record has left there
 * never equals it, but by a chance of 2^-63. */
static inline uint64_t dw_sample_seal_end(uint64_t position)
{
	uint64_t x = (position + 1) * 0x9e3779b97f4a7c15u;

	return (x ^ x >> 29) | 1;
}

/* The seal of the record at @position while it is written. */
static inline uint64_t dw_sample_seal_begin(uint64_t position)
{
	return dw_sample_seal_end(position) ^ 1;
}
