/*
 * The code budget; see code-budget.h.
 *
 * 160 bytes for each sample become about 70 when packed, as much as the rest of the session takes:
 * together 1/50 of what a recorder that stores 8 KB of stack with each sample writes. Short
 * recordings get a floor, so that small programs are whole.
 */
#include "record/code-budget.h"

#include "base/cleanup.h"

#include <errno.h>
#include <stdlib.h>

enum {
	BYTES_PER_SAMPLE = 160,
	FLOOR_BYTES = 1 << 20,
};

struct ranked {
	struct dw_values values; /* of the function */
	struct dw_code code;
};

static int compare(const void *pa, const void *pb)
{
	const struct ranked *a = pa, *b = pb;

	if (a->values.exclusive != b->values.exclusive)
		return a->values.exclusive < b->values.exclusive ? 1 : -1;
	if (a->values.inclusive != b->values.inclusive)
		return a->values.inclusive < b->values.inclusive ? 1 : -1;
	if (a->code.function != b->code.function)
		return a->code.function < b->code.function ? -1 : 1;
	return (a->code.svma > b->code.svma) - (a->code.svma < b->code.svma);
}

/* All rows of code with the values of their functions over all processes, most used first. NULL
 * without memory. */
static struct ranked *rank(const struct dw_profile *p, const struct dw_totals *t)
{
	size_t functions = (size_t)dw_functions_count(&p->functions) + 1;
	dw_auto_free struct dw_values *values = calloc(functions, sizeof *values);
	struct ranked *ranked = calloc(p->codes.rows.n + 1, sizeof *ranked);

	if (!values || !ranked) {
		free(ranked);
		return NULL;
	}
	dw_vec_each(row, &t->functions) {
		if (row->function < functions) {
			const struct dw_values *more = dw_totals_values(t, row->amounts);

			values[row->function].inclusive += more->inclusive;
			values[row->function].exclusive += more->exclusive;
		}
	}
	for (size_t i = 0; i < p->codes.rows.n; i++) {
		const struct dw_code *code = &p->codes.rows.v[i];

		ranked[i] = (struct ranked){values[code->function], *code};
	}
	qsort(ranked, p->codes.rows.n, sizeof *ranked, compare);
	return ranked;
}

/* Bytes of code that @samples samples may keep. */
static uint64_t budget_of(uint64_t samples)
{
	uint64_t budget = samples * BYTES_PER_SAMPLE;

	return budget < FLOOR_BYTES ? FLOOR_BYTES : budget;
}

static int note(struct dw_profile *p, uint64_t bytes, size_t left_out)
{
	int rc = dw_facts_set(&p->facts, "code_bytes", (int64_t)bytes);

	return rc ? rc : dw_facts_set(&p->facts, "code_ranges_left_out", (int64_t)left_out);
}

bool dw_code_budget_fits(struct dw_profile *p)
{
	uint64_t bytes = 0;

	dw_vec_each(code, &p->codes.rows)
		bytes += code->bytes_n;
	return (dw_profile_method(p) != DWELL_METHOD_SAMPLING ||
		bytes <= budget_of(p->samples.n)) &&
	       !note(p, bytes, 0);
}

int dw_code_budget_apply(struct dw_profile *p, const struct dw_totals *t)
{
	uint64_t budget = budget_of(t->all[DWELL_MEASURE_SAMPLES]), kept_bytes = 0;
	struct ranked *ranked = rank(p, t);
	size_t n = p->codes.rows.n, kept = 0;

	if (!ranked)
		return -ENOMEM;
	while (kept < n && kept_bytes + ranked[kept].code.bytes_n <= budget) {
		kept_bytes += ranked[kept].code.bytes_n;
		p->codes.rows.v[kept] = ranked[kept].code;
		kept++;
	}
	for (size_t i = kept; i < n; i++)
		free(ranked[i].code.bytes);
	p->codes.rows.n = kept;
	free(ranked);
	return note(p, kept_bytes, n - kept);
}
