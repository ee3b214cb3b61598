/*
 * Records of perf rings, decoded: the kinds that dwell's own events produce, with the layout that
 * their attributes ask for (events.c).
 *
 * Bytes are not trusted: every length is checked against the record. Decoded records borrow from
 * the record's bytes. [any-thread]
 */
#pragma once

#include "collect/samples/dispatcher.h"
#include "collect/samples/record.h"

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
/* What samples have more where the kernel is sampled, too. */
#define DWELL_PERF_CHAIN_TYPE PERF_SAMPLE_CALLCHAIN
/* The same length and order, with the identity of the event in place of the address. */
#define DWELL_PERF_IDENTIFIED_TYPE \
	((DWELL_PERF_SAMPLE_TYPE & ~PERF_SAMPLE_IP) | PERF_SAMPLE_IDENTIFIER)

/*
 * The time of the record @p of @n bytes, header included, without decoding it. 0 when it is too
 * short to have one.
 */
uint64_t dw_perf_record_time(const void *p, size_t n);

/* Decode the record @p of @n bytes, header included; @has_chain: samples have the kernel's frames
 * (DWELL_PERF_CHAIN_TYPE). 0; DWELL_ERR_FORMAT; DWELL_ERR_UNSUPPORTED for
 * kinds that are of no interest. */
int dw_perf_record_decode(const void *p, size_t n, bool has_chain, struct dw_perf_record *ret);

/*
 * Bytes of perf's rings in, rows of the profile out.
 *
 * The seam between the kernel's rings and the rest: tests and fuzzing feed it with bytes of their
 * own.
 */

/* Have the processor fetch what dw_dispatcher_record() will read of the sample @p of @n bytes;
 * other records are ignored. */
void dw_dispatcher_prefetch(struct dw_dispatcher *in, const void *p, size_t n);

/* Take in the record @p of @n bytes, @side: from a side-band ring. 0 or -ENOMEM. */
int dw_dispatcher_record(struct dw_dispatcher *in, const void *p, size_t n, bool side);
