/*
 * Finishing; see finish.h. Everything is read back from the partial file: one way, exercised by
 * every recording, so that recovering a killed one cannot rot.
 */
#include "record/finish.h"

#include "analysis/disassembly.h"
#include "analysis/totals.h"
#include "analysis/slow-calls.h"
#include "analysis/wait-kinds.h"
#include "base/cleanup.h"
#include "record/managed-lines.h"
#include "record/module-files.h"
#include "session/chunk.h"
#include "session/read.h"
#include "session/write.h"

#include <errno.h>
#include <stdlib.h>

/*
 * 160 bytes for each sample become about 70 when packed, as much as the rest of the session takes:
 * together 1/50 of what a recorder that stores 8 KB of stack with each sample writes. Short
 * recordings get a floor, so that small programs are whole.
 */

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

/* What became of asking servers for debug information. */
static int note_debuginfod(struct dw_facts *facts, const struct dw_debuginfod_stats *s)
{
	static const char *const states[] = {
		[DWELL_DEBUGINFOD_ASKED] = "asked",
		[DWELL_DEBUGINFOD_NO_SERVERS] = "no servers",
		[DWELL_DEBUGINFOD_NO_LIBRARY] = "no library",
	};
	const struct {
		const char *key;
		uint32_t value;
	} rows[] = {
		{"debuginfod_modules", s->asked}, {"debuginfod_found", s->found},
		{"debuginfod_wrong", s->wrong},	  {"debuginfod_failed", s->failed},
		{"debuginfod_late", s->late},
	};
	int rc;

	if (s->state == DWELL_DEBUGINFOD_UNASKED)
		return 0;
	rc = dw_facts_set_text(facts, "debuginfod", states[s->state]);
	for (size_t i = 0; i < sizeof rows / sizeof *rows && !rc; i++)
		rc = dw_facts_set(facts, rows[i].key, rows[i].value);
	return rc;
}

static int note_symbols(struct dw_facts *facts, const struct dw_symbol_stats *s)
{
	int rc = dw_facts_set(facts, "frames", (int64_t)s->frames);

	if (!rc)
		rc = dw_facts_set(facts, "frames_named", (int64_t)s->frames_named);
	if (!rc)
		rc = dw_facts_set(facts, "frames_with_lines", (int64_t)s->frames_lines);
	if (!rc)
		rc = dw_facts_set(facts, "modules_failed", (int64_t)s->modules_failed);
	if (!rc)
		rc = note_debuginfod(facts, &s->debuginfod);
	return rc;
}

/* A killed collector could not say how long it ran: its last sample or slice does. */
static int complete_facts(struct dw_profile *p)
{
	uint64_t last = p->samples.n ? p->samples.time_ns[p->samples.n - 1] : 0;
	int rc = 0;

	dw_vec_each(x, &p->extras.rows) {
		if (x->begin_ns + x->span_ns > last)
			last = x->begin_ns + x->span_ns;
	}
	if (p->calls.slices.n)
		last = p->calls.slices.v[p->calls.slices.n - 1].end_ns;
	if (dw_facts_get(&p->facts, "duration_ns", -1) < 0)
		rc = dw_facts_set(&p->facts, "duration_ns", (int64_t)last);
	if (!rc && dw_profile_method(p) == DWELL_METHOD_SAMPLING)
		rc = dw_facts_set(&p->facts, "samples_kept", (int64_t)p->samples.n);
	return rc;
}

/* Look for the lines of managed code again. */
static int find_lines(const struct dw_profile *p, struct dw_managed_lines *lines)
{
	const int64_t start_ns = dw_facts_get(&p->facts, "start_realtime_ns", 0);
	int rc = dw_managed_lines_open(lines);

	for (uint32_t id = 1; id <= dw_modules_count(&p->modules) && !rc; id++) {
		const struct dw_module *m = dw_modules_get(&p->modules, id);

		if (m->kind == DWELL_MODULE_MANAGED)
			rc = dw_managed_lines_add_again(
				lines, id, dw_strings_get(&p->strings, m->path), start_ns);
	}
	return rc;
}

/* How long servers may take: no longer than our own helpers, where somebody waits. */
static uint32_t debuginfod_ms(const struct dw_finish_options *o)
{
	return o->symbol_timeout_ms && o->symbol_timeout_ms < o->debuginfod_ms
		       ? o->symbol_timeout_ms
		       : o->debuginfod_ms;
}

/*
 * Give names to a loaded profile @p whose recording was not finished, and the facts that only an
 * end knows.
 * @options  path and partial are not used. 0 or -ENOMEM. What cannot be resolved stays a number.
 */
static int name_profile(struct dw_profile *p, const struct dw_finish_options *options,
			struct dw_error *err)
{
	struct dw_symbol_options symbol_options = {
		.timeout_ms = options->symbol_timeout_ms,
		.debuginfod_ms = debuginfod_ms(options),
		.without_code = options->without_code,
		.names_only = options->names_only,
		.prefetch = options->prefetch,
		.import_name = options->import_name,
		.import_name_ctx = options->import_name_ctx,
		.cache_dir = options->cache_dir,
		.il_line = options->il_line,
		.il_line_ctx = options->il_line_ctx,
		.jit_symbol = options->jit_symbol,
		.jit_symbol_ctx = options->jit_symbol_ctx,
	};
	const struct dw_module_source *sources = options->sources;
	size_t sources_n = options->sources_n;
	struct dw_symbol_stats stats = {0};
	struct dw_module_files module_files = {0};
	struct dw_managed_lines lines = {0};
	int rc = complete_facts(p);

	if (!rc && !options->il_line) {
		rc = find_lines(p, &lines);
		symbol_options.il_line = dw_managed_lines_find;
		symbol_options.il_line_ctx = &lines;
	}
	if (!rc && !sources) {
		rc = dw_module_files_find(p, &module_files);
		sources = module_files.sources;
		sources_n = module_files.n;
	}
	if (!rc)
		rc = dw_symbolize(p, sources, sources_n, &symbol_options, &stats, err);
	if (!rc && options->with_source)
		rc = dw_source_pack(p, sources, sources_n);
	dw_module_files_release(&module_files);
	dw_managed_lines_release(&lines);
	if (!rc)
		rc = note_symbols(&p->facts, &stats);
	if (!rc)
		dw_find_thread_starts(p);
	return rc;
}

/* Choose whose machine code stays. */
static int choose_code(struct dw_profile *p)
{
	struct dw_totals functions = {0};
	int rc = 0;

	if (!dw_code_budget_fits(p)) {
		rc = dw_totals_compute(p, NULL, DWELL_TOTALS_FUNCTIONS, &functions);
		if (!rc)
			rc = dw_code_budget_apply(p, &functions);
		dw_totals_release(&functions);
	}
	return rc;
}

/* Count everything while it is written. What an instruction is, is known of the code that stays
 * alone, here and wherever the session is read. */
static int count_and_write(const struct dw_profile *p, const char *partial, const char *path,
			   struct dw_error *err)
{
	/* Nodes of a smaller share have no row; as that is rounded, half of it is far enough. */
	const struct dw_filter filter = {.by = DWELL_BY_PROCESS,
					 .splits_lines = true,
					 .focus = {.min_pct = 50.0 / DWELL_NODE_SHARE}};
	struct dw_session_finishing *f;
	struct dw_totals totals = {0};
	int rc = dw_session_finish_begin(partial, path, p, &f, err), written;

	if (rc)
		return rc;
	rc = dw_totals_compute(
		p, &filter, DWELL_TOTALS_ALL | (dw_profile_has_calls(p) ? 0 : DWELL_TOTALS_WAITS),
		&totals);
	written = dw_session_finish_end(f, rc ? NULL : &totals, err);
	dw_totals_release(&totals);
	return rc ? rc : written;
}

int dw_finish_named(struct dw_profile *p, const char *partial, const char *path,
		    struct dw_error *err)
{
	int rc = dw_complete_waits(p);

	if (!rc)
		rc = dw_fit_slow_calls(p);
	if (!rc)
		rc = dw_disassembly_tell(p);
	if (!rc)
		rc = count_and_write(p, partial, path, err);
	if (rc && err && !err->code)
		dw_error_set(err, rc, "finishing %s: %s", path, dw_err_string(rc));
	return rc;
}

int dw_finish(const struct dw_finish_options *options, struct dw_error *err)
{
	struct dw_profile p = DW_PROFILE_INIT;
	struct dw_session_info info = {0};
	dw_auto_close int held = -1;
	int rc = dw_session_load_to_finish(options->partial, &p, &info, err);

	if (!rc && info.finished)
		rc = dw_error_set(err, DWELL_ERR_USAGE, "%s is finished already", options->partial);
	if (!rc && !options->held)
		rc = dw_session_hold(options->partial, &held, err);
	if (!rc)
		rc = name_profile(&p, options, err);
	if (!rc)
		rc = choose_code(&p);
	if (!rc)
		rc = dw_finish_named(&p, options->partial, options->path, err);
	if (rc && err && !err->code)
		dw_error_set(err, rc, "finishing %s: %s", options->path, dw_err_string(rc));
	dw_profile_release(&p);
	return rc;
}

static int complete_waits(struct dw_profile *p, struct dw_error *err)
{
	return dw_complete_waits(p) ? dw_error_set(err, -ENOMEM, "out of memory") : 0;
}

int dw_open_profile(const char *path, const struct dw_session_range *range, struct dw_profile *p,
		    struct dw_error *err)
{
	const struct dw_finish_options options = {0};
	struct dw_session_info info = {0};
	int rc = dw_session_load_summed(path, range, p, &info, err);

	if (!rc && !info.finished)
		rc = name_profile(p, &options, err);
	if (!rc && (!range || (!range->from_ns && !range->to_ns)) && dw_fit_slow_calls(p))
		rc = dw_error_set(err, -ENOMEM, "out of memory");
	return rc ? rc : complete_waits(p, err);
}

int dw_open_running(const char *path, const struct dw_session_range *range, struct dw_profile *p,
		    bool *ret_finished, struct dw_error *err)
{
	const struct dw_finish_options options = {.names_only = true, .without_code = true};
	struct dw_session_info info = {0};
	int rc = range ? dw_session_load_summed(path, range, p, &info, err)
		       : dw_session_load(path, p, &info, err);

	*ret_finished = info.finished;
	if (!rc && !info.finished)
		rc = name_profile(p, &options, err);
	return rc ? rc : complete_waits(p, err);
}
