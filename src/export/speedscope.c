/*
 * speedscope's own format: https://www.speedscope.app/file-format-schema.json
 *
 * A profile for each thread, of which the one with the most is shown first. Samples stand in the
 * order of time, so that its time order is true; those with the stack of the one before are one.
 * Calls and allocations have none but that of the call tree. The schema wants stacks in full,
 * outermost frame first.
 */
#include "base/cleanup.h"
#include "base/out.h"
#include "export/export.h"
#include "export/frame-table.h"
#include "format/format.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

struct speedscope {
	const struct dw_export *e;
	struct dw_out *out;
	struct dw_inline_frames frames;
	struct dw_export_threads threads;
	struct dw_buf scratch;
	DW_VEC(uint32_t) locations; /* of a path, innermost first */
	bool some;		    /* an element was written */
};

static void put_frame(void *ctx, uint32_t location, uint32_t i)
{
	struct speedscope *s = ctx;
	const struct dw_paths *paths = &s->e->paths;
	struct dw_path_line line = dw_paths_line(paths, location, i);

	dw_out_puts(s->out, s->some ? ",\n{\"name\":" : "{\"name\":");
	s->some = true;
	dw_format_json_string(s->out, dw_paths_name(paths, line.symbol, &s->scratch));
	if (line.file) {
		dw_out_puts(s->out, ",\"file\":");
		dw_format_json_string(s->out, dw_strings_get(&s->e->profile->strings, line.file));
	}
	if (line.line)
		dw_out_printf(s->out, ",\"line\":%" PRIu32, line.line);
	if (line.column)
		dw_out_printf(s->out, ",\"col\":%" PRIu32, line.column);
	dw_out_puts(s->out, "}");
}

static int put_stack(struct speedscope *s, uint32_t path)
{
	const struct dw_paths *paths = &s->e->paths;
	size_t n = 0;

	s->locations.n = 0;
	do {
		if (dw_vec_push(&s->locations, dw_paths_location(paths, path)))
			return -ENOMEM;
		path = dw_paths_parent(paths, path);
	} while (path);
	dw_out_puts(s->out, "[");
	for (size_t at = s->locations.n; at-- > 0;) {
		const uint32_t *first = &s->frames.first[s->locations.v[at]];

		for (uint32_t frame = first[0]; frame < first[1]; frame++)
			dw_json_number(s->out, n++, frame);
	}
	dw_out_puts(s->out, "]");
	return 0;
}

/* The sum of row *@i of a thread and those behind it that have the same path; *@i becomes the row
 * behind them. */
static uint64_t take_run(const struct speedscope *s, uint32_t *i)
{
	const struct dw_sample_values *w = &s->e->values;
	uint32_t path = w->rows.v[*i].path;
	uint64_t sum = 0;

	do {
		sum += dw_sample_value(w, *i, s->e->kind);
		*i = dw_export_threads_next(&s->threads, *i);
	} while (*i != DWELL_NO_ROW && w->rows.v[*i].path == path);
	return sum;
}

static int put_samples(struct speedscope *s, uint32_t thread)
{
	uint32_t i = s->threads.first[thread], n = 0;
	uint64_t sum = 0;

	dw_out_puts(s->out, "\"samples\":[");
	while (i != DWELL_NO_ROW) {
		uint32_t path = s->e->values.rows.v[i].path;

		sum += take_run(s, &i);
		dw_json_next(s->out, n++);
		if (put_stack(s, path))
			return -ENOMEM;
	}
	dw_out_puts(s->out, "],\n\"weights\":[");
	i = s->threads.first[thread];
	for (n = 0; i != DWELL_NO_ROW; n++)
		dw_json_number(s->out, n, take_run(s, &i));
	dw_out_printf(s->out, "],\n\"startValue\":0,\"endValue\":%" PRIu64, sum);
	return 0;
}

static int put_thread(struct speedscope *s, uint32_t thread)
{
	static const char *const units[] = {
		[DWELL_UNIT_COUNT] = "none",
		[DWELL_UNIT_NS] = "nanoseconds",
		[DWELL_UNIT_BYTES] = "bytes",
	};
	int rc;

	dw_out_puts(s->out, s->some ? ",\n{" : "{");
	s->some = true;
	dw_out_puts(s->out, "\"type\":\"sampled\",\"name\":");
	dw_format_json_string(s->out, dw_export_thread_title(&s->e->paths, thread, &s->scratch));
	dw_out_printf(s->out, ",\"unit\":\"%s\",\n", units[s->e->values.kinds[s->e->kind].unit]);
	rc = put_samples(s, thread);
	dw_out_puts(s->out, "}");
	return rc;
}

/* The process of @thread, 0 = not known; below @n. */
static uint32_t process_of(const struct dw_threads *threads, uint32_t thread, size_t n)
{
	const struct dw_thread *t = dw_threads_get(threads, thread);

	return t && t->process < n ? t->process : 0;
}

/*
 * Which profile a viewer begins with: that of the thread with the most in the process with the
 * most. The first one may well be that of a shell which has only waited. *@ret: among those with
 * rows. 0 or -ENOMEM.
 */
static int find_busiest(const struct speedscope *s, uint32_t *ret)
{
	const struct dw_threads *threads = &s->e->profile->threads;
	size_t processes_n = s->e->profile->processes.rows.n + 1;
	dw_auto_free uint64_t *of_thread = calloc(s->threads.n + 1, sizeof *of_thread);
	dw_auto_free uint64_t *of_process = calloc(processes_n + 1, sizeof *of_process);
	uint64_t most[2] = {0};
	uint32_t profile = 0;

	*ret = 0;
	if (!of_thread || !of_process)
		return -ENOMEM;
	for (uint32_t thread = 0; thread < s->threads.n; thread++) {
		uint32_t row = s->threads.first[thread];

		for (; row != DWELL_NO_ROW; row = dw_export_threads_next(&s->threads, row))
			of_thread[thread] += dw_sample_value(&s->e->values, row, s->e->kind);
		of_process[process_of(threads, thread, processes_n)] += of_thread[thread];
	}
	for (uint32_t thread = 0; thread < s->threads.n; thread++) {
		uint64_t all = of_process[process_of(threads, thread, processes_n)];

		if (s->threads.first[thread] == DWELL_NO_ROW)
			continue;
		if (all > most[0] || (all == most[0] && of_thread[thread] > most[1])) {
			most[0] = all;
			most[1] = of_thread[thread];
			*ret = profile;
		}
		profile++;
	}
	return 0;
}

static int put_document(struct speedscope *s)
{
	const char *command = dw_facts_get_text(&s->e->profile->facts, "command");
	uint32_t busiest;
	int rc = find_busiest(s, &busiest);

	if (rc)
		return rc;

	dw_out_puts(s->out, "{\"$schema\":\"https://www.speedscope.app/file-format-schema.json\",\n"
			    "\"exporter\":\"dwell " DWELL_VERSION "\",\n\"name\":");
	dw_format_json_string(s->out, command ? command : "dwell");
	dw_out_printf(s->out, ",\n\"activeProfileIndex\":%" PRIu32, busiest);
	dw_out_puts(s->out, ",\n\"shared\":{\"frames\":[\n");
	dw_inline_frames_each(&s->frames, put_frame, s);
	dw_out_puts(s->out, "]},\n\"profiles\":[\n");
	s->some = false;
	for (uint32_t thread = 0; thread < s->threads.n && !rc && !s->out->failed; thread++)
		if (s->threads.first[thread] != DWELL_NO_ROW)
			rc = put_thread(s, thread);
	dw_out_puts(s->out, "]}\n");
	return rc;
}

static int write_speedscope(const struct dw_export *e, struct dw_out *out)
{
	struct speedscope s = {.e = e, .out = out};
	int rc = dw_inline_frames_init(&s.frames, &e->paths, &e->values);

	if (!rc)
		rc = dw_export_threads_init(&s.threads, &e->paths, &e->values);
	if (!rc)
		rc = put_document(&s);
	dw_inline_frames_release(&s.frames);
	dw_export_threads_release(&s.threads);
	dw_buf_release(&s.scratch);
	dw_vec_release(&s.locations);
	return rc;
}

const struct dw_export_ops dw_export_speedscope = {
	.name = "speedscope",
	.help = "JSON for speedscope: a profile for each thread, in the order of time",
	.in_order = true,
	.single = true,
	.write = write_speedscope,
};
