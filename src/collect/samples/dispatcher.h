/*
 * The dispatcher: records of any kind and of any sampler in, rows of the profile out.
 */
#pragma once

#include "collect/samples/modules.h"
#include "collect/samples/sample.h"
#include "collect/samples/track.h"

#include <stdbool.h>
#include <stdint.h>

struct dw_dispatcher {
	struct dw_owners owners;
	struct dw_perf_modules modules;
	struct dw_track track;
	struct dw_sample_unwinder unwinder;
	bool has_chains; /* samples of perf have the kernel's frames */
	/* Told of each fork; NULL = nobody. 0 or -ENOMEM */
	int (*on_fork)(void *ctx, const struct dw_perf_record *r);
	void *on_fork_ctx;
	/* Told of each switch; NULL = nobody. 0 or -ENOMEM */
	int (*on_switch)(void *ctx, const struct dw_perf_record *r);
	void *on_switch_ctx;
	uint64_t lost_samples; /* as records tell */
	uint64_t lost_side;
	uint64_t throttled;
	uint64_t malformed; /* records that made no sense */
};

/*
 * Start empty; @p and @cache_dir (NULL = none) are borrowed.
 * @offline  look at nothing but the records: no process, no file.
 */
void dw_dispatcher_init(struct dw_dispatcher *in, struct dw_profile *p, const char *cache_dir,
			bool offline);

/* Ask @managed and @jit what code it is that no file tells of. Both are borrowed, NULL = none. */
void dw_dispatcher_use(struct dw_dispatcher *in, struct dw_managed *managed, struct dw_jit *jit);

/* Take in @r, @side: it does not come with samples. 0 or -ENOMEM. */
int dw_dispatcher_take(struct dw_dispatcher *in, const struct dw_perf_record *r, bool side);

/* Free everything but the profile. */
void dw_dispatcher_release(struct dw_dispatcher *in);
