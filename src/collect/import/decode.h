/*
 * Records of perf.data, decoded: the fields that the event's attributes asked for, in the kernel's
 * order (perf_event_open(2)).
 *
 * Bytes are not trusted: every length is checked against the record. [any-thread]
 */
#pragma once

#include "collect/import/perf-file.h"
#include "collect/samples/record.h"

#include <stddef.h>
#include <stdint.h>

enum { DWELL_IMPORT_CHAIN_MAX = 8192 }; /* addresses of one stack */

/* What a mapping says of its file beside its name. */
struct dw_import_mapping {
	uint8_t build_id[20];
	uint8_t build_id_bytes; /* 0 = not told */
};

/* A decoded record, and what of it is not in the record's bytes. */
struct dw_import_record {
	struct dw_perf_record r;
	const struct dw_perf_event *event; /* of samples, borrowed; NULL = not known */
	struct dw_import_mapping mapping;
	bool is_data;			       /* a mapping without code */
	uint64_t user[DWELL_IMPORT_CHAIN_MAX]; /* r.sample.user points here */
	uint64_t kernel[DWELL_IMPORT_CHAIN_MAX];
};

/* The time of the record @p of @n bytes by the events of @f, 0 = it has none. */
uint64_t dw_import_record_time(const struct dw_perf_file *f, const void *p, size_t n);

/* Decode the record @p of @n bytes, header included. 0; DWELL_ERR_FORMAT; DWELL_ERR_UNSUPPORTED for
 * kinds that are of no interest. */
int dw_import_decode(const struct dw_perf_file *f, const void *p, size_t n,
		     struct dw_import_record *ret);
