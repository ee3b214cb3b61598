/* Records to rows; see dispatcher.h. */
#include "collect/samples/dispatcher.h"

void dw_dispatcher_init(struct dw_dispatcher *in, struct dw_profile *p, const char *cache_dir,
			bool offline)
{
	*in = (struct dw_dispatcher){
		.modules = {.profile = p,
			    .owners = &in->owners,
			    .cache_dir = cache_dir,
			    .offline = offline},
		.track = {.profile = p, .modules = &in->modules},
		.unwinder = {.profile = p, .track = &in->track},
	};
}

void dw_dispatcher_use(struct dw_dispatcher *in, struct dw_managed *managed, struct dw_jit *jit)
{
	in->unwinder.jit_code.managed = managed;
	in->track.jit = jit;
	in->unwinder.interpreters.jit = jit;
}

int dw_dispatcher_take(struct dw_dispatcher *in, const struct dw_perf_record *r, bool side)
{
	int rc;

	switch (r->type) {
	case PERF_RECORD_SAMPLE:
		return dw_sample_unwinder_take(&in->unwinder, r);
	case PERF_RECORD_LOST:
	case PERF_RECORD_LOST_SAMPLES:
		*(side ? &in->lost_side : &in->lost_samples) += r->lost;
		return 0;
	case PERF_RECORD_THROTTLE:
		in->throttled++;
		return 0;
	case PERF_RECORD_FORK:
		rc = in->on_fork ? in->on_fork(in->on_fork_ctx, r) : 0;
		return rc ? rc : dw_track_record(&in->track, r);
	case PERF_RECORD_SWITCH:
		return in->on_switch ? in->on_switch(in->on_switch_ctx, r) : 0;
	default:
		return dw_track_record(&in->track, r);
	}
}

void dw_dispatcher_release(struct dw_dispatcher *in)
{
	dw_sample_unwinder_release(&in->unwinder);
	dw_track_release(&in->track);
	dw_perf_modules_release(&in->modules);
	dw_owners_release(&in->owners);
}
