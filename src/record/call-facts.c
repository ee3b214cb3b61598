/* Facts of a recording of calls; see call-facts.h. */
#include "record/call-facts.h"

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/map.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

/* What is known of @process. NULL = no memory. */
static struct dw_call_process *get_process(struct dw_call_sums *s, uint32_t process)
{
	while (s->of.n <= process)
		if (dw_vec_push(&s->of, (struct dw_call_process){0}))
			return NULL;
	return &s->of.v[process];
}

static uint64_t larger(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

static int add_process(struct dw_call_sums *s, uint32_t process, uint64_t cpu_ns,
		       const struct dw_region_head *head, const struct dw_region_calls_stats *calls)
{
	struct dw_call_process *p = calls->nodes ? get_process(s, process) : NULL;
	const struct dw_call_values *v = &calls->sum;

	if (!p)
		return calls->nodes ? -ENOMEM : 0;
	cpu_ns = larger(cpu_ns, larger(head->end_cpu_ns, calls->cpu_ns));
	p->cpu_ns = larger(p->cpu_ns, cpu_ns);
	p->rows_ns += v->application_ns + v->overhead_ns + v->os_cpu_ns;
	p->is_unseen |= head->os_sources[DWELL_OS_NONE];
	return 0;
}

int dw_call_sums_add(struct dw_call_sums *s, uint32_t process, uint64_t cpu_ns,
		     const struct dw_region_head *head, const struct dw_region_calls_stats *calls)
{
	struct dw_region_calls_stats *sum = &s->calls;

	dw_call_values_add(&sum->sum, &calls->sum);
	sum->lifetime_ns += calls->lifetime_ns;
	sum->uncovered_ns += calls->uncovered_ns;
	sum->slow_ns += calls->slow_ns;
	sum->trampoline_samples += calls->trampoline_samples;
	sum->looped_ns += calls->looped_ns;
	sum->given_ns += calls->given_ns;
	sum->nodes += calls->nodes;
	sum->cells += calls->cells;
	sum->cell_calls += calls->cell_calls;
	sum->cell_calls_of_any += calls->cell_calls_of_any;
	sum->counted += calls->counted;
	sum->drawn += calls->drawn;
	sum->drawn_lost += calls->drawn_lost;
	sum->extremes_lost += calls->extremes_lost;
	sum->io_lost += calls->io_lost;
	sum->broken += calls->broken;
	sum->lookups += calls->lookups;
	sum->repairs += calls->repairs;
	sum->stacks += calls->stacks;
	if (sum->arena_bytes < calls->arena_bytes) {
		sum->arena_bytes = calls->arena_bytes;
		sum->function_ps = calls->function_ps;
		sum->external_ps = calls->external_ps;
		sum->pass_ps = calls->pass_ps;
	}
	s->agent_start_ns += head->agent_start_ns;
	for (int i = 0; i < DWELL_OS_SOURCES; i++)
		s->threads[i] += head->os_sources[i];
	s->processes += calls->nodes != 0;
	s->unseen += calls->nodes && !head->system_calls_seen;
	return add_process(s, process, cpu_ns, head, calls);
}

void dw_call_sums_add_methods(struct dw_call_sums *s, const struct dw_call_methods *m)
{
	if (!m->is_there)
		return;
	s->methods += m->rows.used;
	s->methods_small += dw_call_methods_fact(m, DWELL_CLR_METHODS_SMALL);
	s->methods_left += dw_call_methods_fact(m, DWELL_CLR_METHODS_REFUSED) +
			   dw_call_methods_fact(m, DWELL_CLR_METHODS_LOST);
}

void dw_call_sums_release(struct dw_call_sums *s)
{
	dw_vec_release(&s->of);
}

/* The sources of switches that threads had. */
static const char *source_of(const struct dw_call_sums *s)
{
	uint64_t perf = s->threads[DWELL_OS_PERF], rseq = s->threads[DWELL_OS_RSEQ];

	if (!perf && !rseq)
		return "none";
	return perf && rseq ? "perf,rseq" : perf ? "perf" : "rseq";
}

struct fact {
	const char *key;
	uint64_t value;
};

static int note_all(struct dw_facts *facts, const struct fact *rows, size_t n)
{
	int rc = 0;

	for (size_t i = 0; i < n && !rc; i++)
		rc = dw_facts_set(facts, rows[i].key, (int64_t)rows[i].value);
	return rc;
}

/* CPU time of processes whose switches were seen, and of that in rows: of others nobody can tell.
 */
static uint64_t sum_cpu(const struct dw_call_sums *s)
{
	uint64_t sum = 0;

	dw_vec_each(p, &s->of)
		sum += p->is_unseen ? 0 : p->cpu_ns;
	return sum;
}

/* Likewise. */
static uint64_t sum_rows(const struct dw_call_sums *s)
{
	uint64_t sum = 0;

	dw_vec_each(p, &s->of)
		sum += p->is_unseen ? 0 : p->rows_ns;
	return sum;
}

/* List the processes whose switches were not all seen. */
static int note_unseen(struct dw_facts *facts, const struct dw_call_sums *s)
{
	dw_auto(dw_buf) ids = DW_BUF_INIT;

	for (uint32_t id = 1; id < s->of.n; id++)
		if (s->of.v[id].is_unseen)
			dw_buf_printf(&ids, "%s%" PRIu32, ids.len ? "," : "", id);
	if (ids.failed || !ids.len)
		return ids.failed ? -ENOMEM : 0;
	return dw_facts_set_text(facts, "switches_unseen_in", dw_buf_str(&ids));
}

int dw_note_calls(struct dw_facts *facts, const struct dw_call_sums *s)
{
	const struct dw_region_calls_stats *c = &s->calls;
	const struct dw_call_values *v = &c->sum;
	uint64_t cpu = sum_cpu(s), rows_ns = sum_rows(s);
	const struct fact rows[] = {
		{"system_calls_seen", s->processes && !s->unseen},
		{"agent_start_ns", s->agent_start_ns},
		{"call_nodes", c->nodes},
		{"calls_truncated", c->cell_calls},
		{"calls_without_caller", c->cell_calls_of_any},
		{"calls_only_counted", c->counted},
		{"paths_drawn", c->drawn},
		{"paths_not_drawn", c->drawn_lost},
		{"callees_without_extremes", c->extremes_lost},
		{"file_io_calls_lost", c->io_lost},
		{"nodes_dropped", c->broken},
		{"tree_bytes_max", c->arena_bytes},
		{"tree_lookups", c->lookups},
		{"stack_repairs", c->repairs},
		{"stacks", c->stacks},
		{"probes_function_ps", c->function_ps},
		{"probes_outside_ps", c->external_ps},
		{"probes_pass_ps", c->pass_ps},
		{"probes_samples", c->trampoline_samples},
		{"probes_looped_ns", c->looped_ns},
		{"probes_found_ns", c->given_ns},
		{"slow_path_ns", c->slow_ns},
		{"overhead_uncovered_ns", c->uncovered_ns},
		{"threads_lifetime_ns", c->lifetime_ns},
		{"residual_elapsed_ns", c->lifetime_ns - v->elapsed_ns - v->overhead_ns},
		{"processes_cpu_ns", cpu},
		{"residual_ns", cpu - rows_ns},
		{"processes_left_out", s->left_out},
		{"methods_instrumented", s->methods},
		{"methods_short", s->methods_small},
		{"methods_left_alone", s->methods_left},
	};
	int rc = dw_facts_set_text(facts, "os_source", source_of(s));

	if (!rc)
		rc = note_unseen(facts, s);
	return rc ? rc : note_all(facts, rows, sizeof rows / sizeof *rows);
}

/* Functions by what became of them. */
struct counts {
	uint64_t probed, plain, left;
	uint64_t statements, statements_left;
	uint64_t without_lines; /* modules */
};

static void count_functions(const struct dw_module_image *m, struct counts *t)
{
	for (uint32_t i = 0; i < m->header.functions.n; i++) {
		const struct dw_clone_function_entry *f = &m->functions[i];
		bool is_probed = !f->reason && f->flags & DWELL_CLONE_PROBED;

		t->probed += is_probed;
		t->plain += !f->reason && !(f->flags & (DWELL_CLONE_PROBED | DWELL_CLONE_COLD));
		t->left += f->reason > DWELL_LEFT_NOT_CHOSEN;
	}
	t->statements += m->header.statements.n;
	t->statements_left += m->header.statements_left;
	t->without_lines += m->lacks_lines;
}

/* Add the name of @m to the words in @list, once. */
static void add_name(struct dw_buf *list, const struct dw_module_image *m)
{
	const char *name = dw_module_image_file(m);
	size_t n = strlen(name);

	for (const char *at = list->len ? dw_buf_str(list) : NULL; at; at = strchr(at, ',')) {
		at += *at == ',';
		if (!strncmp(at, name, n) && (!at[n] || at[n] == ','))
			return;
	}
	dw_buf_printf(list, "%s%s", list->len ? "," : "", name);
}

/* Note the libraries that were chosen because they hold the work of executables, and those. */
static int note_chosen(struct dw_facts *facts, const struct dw_scope *s)
{
	dw_auto(dw_buf) libraries = DW_BUF_INIT;
	dw_auto(dw_buf) executables = DW_BUF_INIT;
	int rc;

	dw_vec_each(c, &s->chosen) {
		add_name(&libraries, c->library);
		add_name(&executables, c->executable);
	}
	if (libraries.failed || executables.failed || !libraries.len)
		return libraries.failed || executables.failed ? -ENOMEM : 0;
	rc = dw_facts_set_text(facts, "modules_chosen", dw_buf_str(&libraries));
	return rc ? rc : dw_facts_set_text(facts, "modules_chosen_for", dw_buf_str(&executables));
}

int dw_note_instrumented(struct dw_facts *facts, const struct dw_instrument_result *r)
{
	const struct dw_instrument_stats *s = &r->stats;
	struct counts t = {0};
	uint64_t modules = s->images_refused;
	int rc = note_chosen(facts, &r->scope);
	size_t n;
	struct dw_module_image *const *images = dw_images_all(r->images, &n);

	for (size_t i = 0; i < n; i++) {
		const uint64_t *processes = images[i]->processes;

		if (images[i]->probes != DWELL_PROBES_TIME)
			continue;
		for (uint32_t state = DWELL_MODULE_NONE; state < DWELL_MODULE_CLOSED; state++)
			modules += processes[state];
		if (processes[DWELL_MODULE_CLONED] || processes[DWELL_MODULE_CLOSED])
			count_functions(images[i], &t);
	}
	return rc ? rc
		  : note_all(facts,
			     (const struct fact[]){
				     {"processes_instrumented", s->instrumented},
				     {"processes_not_instrumented",
				      s->processes - s->instrumented +
					      s->drops[DWELL_DROP_CHILDREN]},
				     {"runtimes", s->runtimes},
				     {"java_runtimes", s->java_runtimes},
				     {"modules_not_instrumented", modules},
				     {"functions_instrumented", t.probed},
				     {"functions_short", t.plain},
				     {"functions_left_alone", t.left},
				     {"statements_instrumented", t.statements},
				     {"statements_left_alone", t.statements_left},
				     {"modules_without_lines", t.without_lines},
				     {"threads_dropped", s->drops[DWELL_DROP_THREADS]},
				     {"threads_filtered", s->drops[DWELL_DROP_THREADS_FILTERED]},
				     {"events_dropped", s->drops[DWELL_DROP_EVENTS]},
				     {"events_blind", s->drops[DWELL_DROP_BLIND]},
				     {"calls_dropped", s->drops[DWELL_DROP_COUNTS]},
				     {"counters_dropped", s->drops[DWELL_DROP_COUNTED]},
				     {"system_calls_without_probe",
				      s->drops[DWELL_DROP_SYSTEM_CALLS]},
			     },
			     18);
}

int dw_note_disabled(struct dw_facts *facts, double overhead, bool counts, uint64_t pending,
		     const struct dw_calls *calls)
{
	enum { WHOLE = 1, IN_PART = 2 };
	struct dw_map seen = {0}; /* frame -> bits */
	uint64_t whole = 0, in_part = 0, from_start = 0;
	int rc = 0;

	dw_vec_each(m, &calls->disabled) {
		uint32_t before = dw_map_get(&seen, m->entry);
		uint32_t bit = m->flags & DWELL_DISABLED_IN_PART ? IN_PART : WHOLE;

		if (rc || before & bit)
			continue;
		whole += bit == WHOLE;
		in_part += bit == IN_PART;
		from_start += bit == WHOLE && m->flags & DWELL_DISABLED_FROM_START;
		rc = dw_map_put(&seen, m->entry, before | bit);
	}
	dw_map_release(&seen);
	return rc ? rc
		  : note_all(facts,
			     (const struct fact[]){
				     {"overhead_limit_percent", (uint64_t)(100 * overhead + .5)},
				     {"functions_switched_off", whole},
				     {"functions_switched_off_before", from_start},
				     {"callees_switched_off_in_part", in_part},
				     {"switching_off_pending", pending},
				     {"switched_off_counts", counts},
			     },
			     6);
}
