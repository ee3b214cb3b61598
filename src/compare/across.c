/* Samples counted as probes measure; see across.h. */
#include "compare/across.h"

#include "analysis/totals.h"
#include "base/cleanup.h"
#include "model/measure.h"

#include <errno.h>
#include <math.h>
#include <string.h>

/* What is known of a row while samples are counted. */
enum { IS_PROBED = 1, IS_CALLED_BY_PROBED = 2 };

/* Where a sample belongs whose stack ends there. */
struct place {
	uint32_t row;	 /* + 1, 0 = outside of what was measured */
	uint32_t callee; /* + 1: what is called from there without probes, 0 = not known */
	bool is_inside_library;
};

struct comparing {
	struct dw_across *a;
	const struct dw_profile *plain, *measured;
	DW_VEC(uint8_t) known; /* by row: IS_... */
	uint32_t *row_of;      /* by the plain session's function id: row + 1, 0 = not measured */
	uint64_t *counts;      /* by row + 1, samples */
	struct dw_pairs sites; /* module's name, address of the call */
	DW_VEC(uint32_t) callees; /* by site: row + 1 of what was called, 0 = several */
};

/* The row of what is called so in @module, added when new. UINT32_MAX = no memory. */
static uint32_t row_called(struct comparing *k, const char *module, const char *text)
{
	struct dw_across_row row = {0};
	uint32_t id;

	if (dw_strings_adds(&k->a->strings, module, &row.module) ||
	    dw_strings_adds(&k->a->strings, text, &row.text))
		return UINT32_MAX;
	id = dw_pairs_add(&k->a->row_of, row.module, row.text);
	if (!id ||
	    (id > k->a->rows.n && (dw_vec_push(&k->a->rows, row) || dw_vec_push(&k->known, 0))))
		return UINT32_MAX;
	return id - 1;
}

static const char *module_of(const struct dw_profile *p, const struct dw_function *f)
{
	const struct dw_module *m = dw_modules_get(&p->modules, f->module);

	return m ? dw_strings_get(&p->strings, m->name) : "";
}

static uint32_t row_of_function(struct comparing *k, const struct dw_profile *p, uint32_t function)
{
	const struct dw_function *f = dw_functions_get(&p->functions, function);

	if (!f)
		return row_called(k, "", "");
	return row_called(k, module_of(p, f), dw_strings_get(&p->strings, f->name));
}

/* What functions took as they were measured. */
static int add_measured(struct comparing *k, const struct dw_totals *t)
{
	dw_vec_each(f, &t->functions) {
		struct dw_measured m = dw_totals_function_measured(t, f);
		uint32_t row;

		/* Time of what was only counted is its callers'. */
		if (dw_functions_get(&k->measured->functions, f->function) &&
		    !dw_measured_get(&m, DWELL_MEASURE_MEASURED, false))
			continue;
		row = row_of_function(k, k->measured, f->function);
		if (row == UINT32_MAX)
			return -ENOMEM;
		k->a->rows.v[row].ns[DWELL_MEASURED] +=
			dw_measured_get(&m, DWELL_MEASURE_APPLICATION, true) +
			(k->a->with_kernel ? dw_measured_get(&m, DWELL_MEASURE_OS_CPU, true) : 0);
	}
	k->a->all_ns[DWELL_MEASURED] = t->all[DWELL_MEASURE_APPLICATION] +
				       (k->a->with_kernel ? t->all[DWELL_MEASURE_OS_CPU] : 0);
	return 0;
}

/* The row of @f, + 1, 0 = there is none. */
static uint32_t find_row(const struct comparing *k, const struct dw_profile *p,
			 const struct dw_function *f)
{
	const struct dw_strings *strings = &k->a->strings;
	const char *module = module_of(p, f);

	return dw_pairs_find(&k->a->row_of, dw_strings_find(strings, module, strlen(module)),
			     dw_strings_find(strings, dw_strings_get(&p->strings, f->name),
					     dw_strings_len(&p->strings, f->name)));
}

/* The number of the site of @frame of @p, + 1, added if @adds. 0 = there is none. */
static uint32_t site_of(struct comparing *k, const struct dw_profile *p, uint32_t frame, bool adds)
{
	const struct dw_frame *f = dw_frames_get(&p->frames, frame);
	const struct dw_module *m = f ? dw_modules_get(&p->modules, f->module) : NULL;
	uint32_t name;

	if (!m || dw_strings_adds(&k->a->strings, dw_strings_get(&p->strings, m->name), &name))
		return 0;
	return adds ? dw_pairs_add(&k->sites, name, f->svma)
		    : dw_pairs_find(&k->sites, name, f->svma);
}

/* Note that @row is called at @frame. */
static int add_site(struct comparing *k, uint32_t frame, uint32_t row)
{
	uint32_t id = site_of(k, k->measured, frame, true);

	if (!id)
		return frame ? -ENOMEM : 0;
	if (id > k->callees.n)
		return dw_vec_push(&k->callees, row);
	if (k->callees.v[id - 1] != row)
		k->callees.v[id - 1] = 0;
	return 0;
}

/* Which of them have probes, which were called by those that have, and where. */
static int find_probed(struct comparing *k)
{
	const struct dw_profile *p = k->measured;
	int rc = 0;

	dw_vec_each(node, &p->calls.nodes) {
		uint32_t function = dw_locations_innermost(&p->locations, node->entry), id;
		const struct dw_function *f = dw_functions_get(&p->functions, function);
		bool is_external = node->flags & DWELL_CALL_EXTERNAL;

		id = !f || node->flags & (DWELL_CALL_LINE | DWELL_CALL_COUNTED) ? 0
										: find_row(k, p, f);
		if (id)
			k->known.v[id - 1] |= is_external ? IS_CALLED_BY_PROBED : IS_PROBED;
		if (id && is_external && !rc)
			rc = add_site(k, node->site, id);
	}
	return rc;
}

/* Find the plain session's functions among the rows. Whether there are any. */
static bool find_common(struct comparing *k)
{
	const struct dw_profile *p = k->plain;
	bool any = false;

	for (uint32_t id = 1; id <= dw_functions_count(&p->functions); id++) {
		k->row_of[id] = find_row(k, p, dw_functions_get(&p->functions, id));
		any |= k->row_of[id] && k->known.v[k->row_of[id] - 1] & IS_PROBED;
	}
	return any;
}

/* Where samples belong that are at @frame, called from @at. What a library's function has called by
 * a jump stands on the stack in its place: the site tells. */
static struct place step(struct comparing *k, struct place at, uint32_t frame)
{
	uint32_t n, row, site;
	const struct dw_location *chain = dw_locations_get(&k->plain->locations, frame, &n);

	/* What was inlined has no probes of its own. */
	row = n ? k->row_of[chain[n - 1].function] : 0;
	if (row && k->known.v[row - 1] & IS_PROBED) {
		site = site_of(k, k->plain, frame, false);
		return (struct place){row, site ? k->callees.v[site - 1] : 0, false};
	}
	if (!at.row || at.is_inside_library)
		return at;
	if (row && k->known.v[row - 1] & IS_CALLED_BY_PROBED)
		return (struct place){row, 0, true};
	return at.callee ? (struct place){at.callee, 0, true} : at;
}

static int add_samples(struct comparing *k)
{
	const struct dw_profile *p = k->plain;
	double sample_ns = dw_sample_ns(p);
	dw_auto_free struct place *places =
		calloc((size_t)dw_stacks_count(&p->stacks) + 1, sizeof *places);
	uint32_t outside;

	if (!places)
		return -ENOMEM;
	for (uint32_t id = 1; id <= dw_stacks_count(&p->stacks); id++) {
		const struct dw_stack *s = dw_stacks_get(&p->stacks, id);

		places[id] = step(k, places[s->parent], s->frame);
	}
	for (size_t i = 0; i < p->samples.n; i++)
		k->counts[places[p->samples.stack[i]].row]++;
	outside = row_called(k, "", "");
	if (outside == UINT32_MAX)
		return -ENOMEM;
	for (size_t i = 0; i < k->a->rows.n; i++) {
		/* That of what is outside may be new, and has no place behind the others. */
		uint64_t n = i == outside ? k->counts[0] : k->counts[i + 1];

		k->a->rows.v[i].ns[DWELL_PLAIN] = (uint64_t)llround((double)n * sample_ns);
	}
	k->a->samples = p->samples.n;
	k->a->all_ns[DWELL_PLAIN] = (uint64_t)llround((double)p->samples.n * sample_ns);
	return 0;
}

/* One row for each module. */
static int join_modules(struct dw_across *a)
{
	struct dw_across joined = {0};

	for (size_t i = 0; i < a->rows.n; i++) {
		const struct dw_across_row *row = &a->rows.v[i];
		uint32_t id = dw_pairs_add(&joined.row_of, row->module, 0);

		if (!id ||
		    (id > joined.rows.n &&
		     dw_vec_push(&joined.rows, (struct dw_across_row){.module = row->module}))) {
			dw_across_release(&joined);
			return -ENOMEM;
		}
		for (int side = 0; side < DWELL_ACROSS_SIDES; side++)
			joined.rows.v[id - 1].ns[side] += row->ns[side];
	}
	dw_vec_release(&a->rows);
	dw_pairs_release(&a->row_of);
	memcpy(&a->rows, &joined.rows, sizeof a->rows);
	a->row_of = joined.row_of;
	return 0;
}

static int by_points(const void *pa, const void *pb)
{
	const struct dw_across_row *a = pa, *b = pb;
	double x = fabs(a->points), y = fabs(b->points);

	if (x != y)
		return x < y ? 1 : -1;
	if (a->module != b->module)
		return a->module < b->module ? -1 : 1;
	return (a->text > b->text) - (a->text < b->text);
}

/* A share of n samples scatters as binomial numbers do; of a row without any the measured share
 * tells how many there should be. Next to 0 and 1 two samples more on either side keep the error
 * from vanishing (Agresti and Coull). */
static void judge(struct dw_across *a)
{
	double n = (double)a->samples, least = 2 / (n + 4);

	dw_vec_each(row, &a->rows) {
		double p;

		for (int side = 0; side < DWELL_ACROSS_SIDES; side++)
			row->share_pct[side] =
				100 * (double)row->ns[side] / (double)a->all_ns[side];
		p = fmax(row->share_pct[0], row->share_pct[1]) / 100;
		p = fmin(fmax(p, least), 1 - least);
		row->points = row->share_pct[DWELL_MEASURED] - row->share_pct[DWELL_PLAIN];
		row->allowed = 200 * sqrt(p * (1 - p) / n);
	}
	qsort(a->rows.v, a->rows.n, sizeof *a->rows.v, by_points);
}

static int compare(struct comparing *k, struct dw_error *err)
{
	struct dw_totals totals = {0};
	int rc = dw_totals_compute(k->measured, NULL, DWELL_TOTALS_FUNCTIONS, &totals);

	rc = rc ? rc : add_measured(k, &totals);
	dw_totals_release(&totals);
	if (rc)
		return rc;
	if (!k->a->all_ns[DWELL_MEASURED])
		return dw_error_set(err, DWELL_ERR_REFUSED,
				    "the instrumented session has nothing to compare");
	rc = find_probed(k);
	if (rc)
		return rc;
	k->row_of = calloc((size_t)dw_functions_count(&k->plain->functions) + 1, sizeof *k->row_of);
	k->counts = calloc(k->a->rows.n + 2, sizeof *k->counts);
	if (!k->row_of || !k->counts)
		return -ENOMEM;
	if (!find_common(k))
		return dw_error_set(err, DWELL_ERR_REFUSED,
				    "the sampled and the instrumented session have no function in "
				    "common: these are sessions of different programs");
	rc = add_samples(k);
	if (!rc && k->a->by_module)
		rc = join_modules(k->a);
	if (!rc)
		judge(k->a);
	return rc;
}

int dw_across_compare(const struct dw_profile *plain, const struct dw_profile *measured,
		      bool by_module, struct dw_across *ret, struct dw_error *err)
{
	struct comparing k = {.a = ret, .plain = plain, .measured = measured};
	int rc;

	*ret = (struct dw_across){
		.by_module = by_module,
		.with_kernel = dw_facts_get(&plain->facts, "kernel_sampled", 0),
		.switched_off = dw_facts_get(&measured->facts, "functions_switched_off", 0),
	};
	if (!plain->samples.n)
		return dw_error_set(err, DWELL_ERR_REFUSED,
				    "the sampled session has nothing to compare");
	if (dw_sample_ns(plain) < 1)
		return dw_error_set(err, DWELL_ERR_REFUSED,
				    "the sampled session has no samples of time: shares of "
				    "application time are compared with those of time alone");
	rc = compare(&k, err);
	dw_vec_release(&k.known);
	dw_vec_release(&k.callees);
	dw_pairs_release(&k.sites);
	free(k.row_of);
	free(k.counts);
	if (rc && err && !err->code)
		dw_error_set(err, rc, "cannot compare: %s", dw_err_string(rc));
	return rc;
}

void dw_across_release(struct dw_across *a)
{
	dw_strings_release(&a->strings);
	dw_vec_release(&a->rows);
	dw_pairs_release(&a->row_of);
}
