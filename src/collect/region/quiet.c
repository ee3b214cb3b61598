/*
 * Asking for a thread's clock where its probes say nothing; see quiet.h.
 */
#include "collect/region/quiet.h"

#define QUIET_NS 1000000

/* Whether the thread's line says when its clock was read, and it has run from then to its last
 * event. */
static bool is_told(const struct dw_tree_thread *t)
{
	return t->os_source != DWELL_OS_NONE && t->cpu_at && t->cpu_at <= t->last;
}

/* What the thread has run since its last event, ticks, when its clock is at @cpu_ns: from the
 * reading of that clock to the event it was not switched, where it has an OS source. */
static double ran_since_last(const struct dw_tree_thread *t, uint64_t cpu_ns, double ns_per_tick)
{
	double ticks = cpu_ns > t->cpu_ns ? (double)(cpu_ns - t->cpu_ns) / ns_per_tick : 0;

	return t->cpu_at && t->cpu_at <= t->last ? ticks - (double)(t->last - t->cpu_at) : 0;
}

void dw_quiet_look(struct dw_call_thread *thread, const struct dw_tree_thread *t,
		   const struct dw_region_reading *now)
{
	double ns_per_tick = now->clock->ns_per_tick, ran;
	uint64_t cpu_ns = 0;

	if (((double)now->until - (double)t->last) * ns_per_tick < QUIET_NS || thread->is_gone)
		return;
	if (t->end_cpu_ns)
		cpu_ns = t->end_cpu_ns;
	else if (now->thread_cpu)
		thread->is_gone = !now->thread_cpu(now->ctx, t->tid, &cpu_ns);
	if (thread->quiet_last != t->last)
		thread->quiet_ticks = 0;
	else if (thread->quiet_cpu_ns && cpu_ns > thread->quiet_cpu_ns)
		thread->quiet_ticks += (double)(cpu_ns - thread->quiet_cpu_ns) / ns_per_tick;
	ran = ran_since_last(t, cpu_ns, ns_per_tick);
	if (ran > thread->quiet_ticks)
		thread->quiet_ticks = ran;
	thread->quiet_is_exact = cpu_ns && is_told(t);
	thread->quiet_last = t->last;
	thread->quiet_cpu_ns = cpu_ns;
}
