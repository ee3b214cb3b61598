/* Latency of samples: known times of known threads, and the same by a plain count of all pairs. */
#include "analysis/filter.h"
#include "analysis/latency.h"
#include "analysis/totals.h"
#include "base/map.h"
#include "check.h"
#include "maker.h"

enum { MS = 1000000, THREADS = 4 };

static void make(struct dw_profile *p)
{
	struct dw_process process = {.pid = 100};
	uint32_t id;

	if (dw_processes_add(&p->processes, &process, &id) ||
	    dw_facts_set_text(&p->facts, "event", "cpu-clock") ||
	    dw_facts_set(&p->facts, "frequency_hz", 1000))
		abort();
	for (int32_t i = 0; i < THREADS; i++) {
		struct dw_thread t = {.process = 1, .tid = 100 + i};

		if (dw_threads_add(&p->threads, &t, &id))
			abort();
	}
}

/* The stack of @name, called by nobody. */
static uint32_t stack_of(struct dw_profile *p, uint32_t module, const char *name)
{
	uint32_t function = mk_function(p, module, name, "a.c", 1);
	uint32_t frame = mk_plain_frame(p, function, 4, 2);

	return mk_stack(p, &frame, 1);
}

static void add(struct dw_profile *p, uint64_t ns, uint32_t thread, uint32_t stack)
{
	if (dw_samples_add(&p->samples, ns, thread, stack))
		abort();
}

static const struct dw_function_total *total_of(const struct dw_profile *p,
						const struct dw_totals *t, const char *name)
{
	dw_vec_each(f, &t->functions) {
		const struct dw_function *of = dw_functions_get(&p->functions, f->function);

		if (of && !strcmp(dw_strings_get(&p->strings, of->name), name))
			return f;
	}
	return NULL;
}

static uint64_t get(const struct dw_profile *p, const struct dw_totals *t, const char *name,
		    enum dw_measure measure)
{
	const struct dw_measured m = dw_totals_measured(t, total_of(p, t, name)->amounts);

	return dw_measured_get(&m, measure, true);
}

/* Four threads run for as long as one does alone: four times the processor, as long by the clock.
 */
TEST(four_threads_at_a_time_take_as_long_as_one)
{
	struct dw_profile p = DW_PROFILE_INIT;
	struct dw_totals t = {0};
	struct dw_filter filter = {.latency = true};
	uint32_t module, alone, together;
	uint64_t sum = 0;

	make(&p);
	module = mk_module(&p, "prog");
	alone = stack_of(&p, module, "alone");
	together = stack_of(&p, module, "together");
	for (uint64_t i = 0; i < 100; i++) {
		add(&p, i * MS, 1, alone);
		for (uint32_t k = 1; k <= THREADS; k++)
			add(&p, (200 + i) * MS + k * MS / 5, k, together);
	}
	CHECK_INT(dw_totals_compute(
			  &p, &filter,
			  DWELL_TOTALS_FUNCTIONS | DWELL_TOTALS_NODES | DWELL_TOTALS_TASKS, &t),
		  0);
	CHECK_INT(get(&p, &t, "alone", DWELL_MEASURE_SAMPLES), 100);
	CHECK_INT(get(&p, &t, "together", DWELL_MEASURE_SAMPLES), 400);
	CHECK_INT(get(&p, &t, "alone", DWELL_MEASURE_LATENCY), 100 * MS);
	/* At the ends of it some neighbours are missing. */
	CHECK(llabs((long long)get(&p, &t, "together", DWELL_MEASURE_LATENCY) - 100 * MS) < 2 * MS);
	dw_vec_each(thread, &t.threads) {
		const struct dw_measured m = dw_totals_measured(&t, thread->amounts);

		sum += dw_measured_get(&m, DWELL_MEASURE_LATENCY, false);
	}
	CHECK_INT(sum, t.all[DWELL_MEASURE_LATENCY]);
	CHECK_INT(dw_amounts_common(&t.node_amounts, 0, DWELL_MEASURE_LATENCY)->inclusive, sum);
	/* A filter leaves samples out, not the threads that ran then. */
	filter.threads = (uint32_t[]){2};
	filter.threads_n = 1;
	CHECK_INT(dw_totals_compute(&p, &filter, DWELL_TOTALS_FUNCTIONS, &t), 0);
	CHECK(llabs((long long)get(&p, &t, "together", DWELL_MEASURE_LATENCY) - 25 * MS) < MS);
	/* Who does not ask has no place for it. */
	filter.latency = false;
	CHECK_INT(dw_totals_compute(&p, &filter, DWELL_TOTALS_FUNCTIONS, &t), 0);
	CHECK(!dw_totals_has(&t, DWELL_MEASURE_LATENCY));
	dw_totals_release(&t);
	dw_profile_release(&p);
}

/* Times in any order, at both ends of all numbers, of threads that are not there. */
TEST(any_times_are_those_of_a_plain_count)
{
	struct dw_profile p = DW_PROFILE_INIT;
	uint64_t state = 7;
	uint32_t *ns;

	make(&p);
	for (uint32_t i = 0; i < 500; i++) {
		state = dw_hash_u64(state);
		add(&p, i % 50 == 0 ? UINT64_MAX - state % 3 : state % (20 * MS),
		    (uint32_t)(state >> 40) % (THREADS + 3), 0);
	}
	CHECK_INT(dw_latency_of_samples(&p, &ns), 0);
	for (size_t i = 0; i < p.samples.n; i++) {
		uint64_t at = p.samples.time_ns[i];
		uint32_t seen = 0;

		for (size_t k = 0; k < p.samples.n; k++) {
			uint64_t other = p.samples.time_ns[k];
			uint32_t thread = p.samples.thread[k] <= THREADS ? p.samples.thread[k] : 0;

			if (other < at ? at - other <= MS / 2 : other - at < MS / 2)
				seen |= 1u << thread;
		}
		/* The last moment of all numbers ends no window. */
		if (at < UINT64_MAX - MS)
			CHECK_INT(ns[i], (uint32_t)(1.0 * MS / __builtin_popcount(seen) + .5));
		else
			CHECK(ns[i] > 0 && ns[i] <= MS);
	}
	free(ns);
	if (dw_facts_set_text(&p.facts, "event", "page-faults"))
		abort();
	CHECK_INT(dw_latency_of_samples(&p, &ns), 0);
	CHECK(!ns);
	dw_profile_release(&p);
}

TEST_MAIN()
