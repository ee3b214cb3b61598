/*
 * All that happens with one record, whatever its kind: bytes in, rows of the profile out.
 *
 * The seam between the kernel's rings and the rest: tests and fuzzing feed it with bytes of their
 * own.
 */
#pragma once

#include "collect/perf/modules.h"
#include "collect/perf/sample.h"
#include "collect/perf/track.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct dw_intake {
	struct dw_owners owners;
	struct dw_perf_modules modules;
	struct dw_track track;
	struct dw_sampler sampler;
	uint64_t lost_samples; /* as records tell */
	uint64_t lost_side;
	uint64_t throttled;
	uint64_t malformed; /* records that made no sense */
};

/*
 * Start empty; @p and @cache_dir (NULL = none) are borrowed.
 * @offline  look at nothing but the records: no process, no file.
 */
void dw_intake_init(struct dw_intake *in, struct dw_profile *p, const char *cache_dir,
		    bool offline);

/* Have the processor fetch what dw_intake_record() will read of the sample @p of @n bytes; other
 * records are ignored. */
void dw_intake_ahead(struct dw_intake *in, const void *p, size_t n);

/* Take in the record @p of @n bytes, @side: from a side-band ring. 0 or -ENOMEM. */
int dw_intake_record(struct dw_intake *in, const void *p, size_t n, bool side);

/* Free everything but the profile. */
void dw_intake_release(struct dw_intake *in);
