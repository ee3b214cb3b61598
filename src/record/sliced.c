/* Sessions that are made of regions; see sliced.h. */
#include "record/sliced.h"

#include "base/clock.h"

#define SLICE_NS 1000000000ull

enum {
	SLICE_SHARE = 100,    /* a slice is never shorter than 1 / this of what was before it */
	COST_SHARE = 100,     /* nor than this many times the time of reading */
	DELTAS_MAX = 1 << 18, /* in memory */
	NODES_MAX = 1 << 18,  /* likewise */
};

void dw_sliced_init(struct dw_sliced *s, struct dw_recorder *recorder)
{
	s->recorder = recorder;
	s->p = s->processes.p = &recorder->profile;
	s->pace = (struct dw_slice_pace){SLICE_NS, COST_SHARE};
	s->start_ns = recorder->run.start_ns;
	s->next_ns = s->start_ns + SLICE_NS;
}

uint64_t dw_sliced_time(const struct dw_sliced *s, uint64_t ns)
{
	return ns > s->start_ns ? ns - s->start_ns : 0;
}

void dw_sliced_hasten(struct dw_sliced *s, uint64_t ns)
{
	uint64_t end_ns = dw_clock_ns(CLOCK_MONOTONIC) + ns;

	s->early_ns = ns;
	if (s->next_ns > end_ns)
		s->next_ns = end_ns;
}

uint32_t dw_sliced_now(const struct dw_sliced *s)
{
	return (uint32_t)s->p->calls.slices.n;
}

uint32_t dw_sliced_last(const struct dw_sliced *s)
{
	return (uint32_t)s->p->calls.slices.n - 1;
}

uint64_t dw_sliced_end_of(const struct dw_sliced *s, const struct dw_region_look *look)
{
	uint64_t told = look->head->end.ns;

	if (!look->is_over)
		return DWELL_TIME_NONE;
	return dw_sliced_time(s, told ? told : dw_clock_ns(CLOCK_MONOTONIC));
}

static int flush(struct dw_sliced *s, struct dw_error *err)
{
	int rc = dw_recorder_flush(s->recorder, err);

	if (!rc)
		dw_calls_forget(&s->p->calls);
	return rc;
}

/* End the slice that goes on @now. */
static void end_slice(struct dw_sliced *s, uint64_t now)
{
	struct dw_call_slice slice = {dw_sliced_time(s, now)};

	dw_recorder_fail(s->recorder, dw_vec_push(&s->p->calls.slices, slice));
}

void dw_sliced_relieve(struct dw_sliced *s, uint32_t slice)
{
	if (s->p->calls.nodes.n <= NODES_MAX && s->p->calls.deltas.n <= DELTAS_MAX &&
	    s->p->allocations.deltas.n <= DELTAS_MAX)
		return;
	if (slice == dw_sliced_now(s))
		end_slice(s, dw_clock_ns(CLOCK_MONOTONIC));
	flush(s, NULL);
}

/* How long the slice that begins @now is, where reading the one before has taken @spent_ns. */
static uint64_t length_ns(struct dw_sliced *s, uint64_t now, uint64_t spent_ns)
{
	uint64_t wait = s->pace.ns + dw_sliced_time(s, now) / SLICE_SHARE;
	uint64_t cost = spent_ns * s->pace.cost_share;

	if (s->early_ns && s->early_ns < wait) {
		wait = s->early_ns;
		cost = spent_ns;
		s->early_ns *= 2;
	}
	return cost > wait ? cost : wait;
}

int dw_sliced_tick(struct dw_sliced *s, struct dw_regions *regions,
		   void (*read)(void *ctx, const struct dw_region_look *look), void *ctx,
		   struct dw_error *err)
{
	uint64_t now = dw_clock_ns(CLOCK_MONOTONIC), before = dw_clock_ns(CLOCK_THREAD_CPUTIME_ID);

	if (now < s->next_ns || s->recorder->rc)
		return s->recorder->rc;
	end_slice(s, now);
	dw_regions_each(regions, read, ctx);
	flush(s, err);
	s->next_ns = now + length_ns(s, now, dw_clock_ns(CLOCK_THREAD_CPUTIME_ID) - before);
	return s->recorder->rc;
}

void dw_sliced_end(struct dw_sliced *s)
{
	uint64_t now = dw_clock_ns(CLOCK_MONOTONIC);

	end_slice(s, now);
	dw_recorder_fail(s->recorder, dw_run_end(&s->recorder->run, &s->p->facts, dw_sliced_time(s, now)));
}

void dw_sliced_release(struct dw_sliced *s)
{
	dw_recorded_processes_release(&s->processes);
}
