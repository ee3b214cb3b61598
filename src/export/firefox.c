/*
 * The processed format of the Firefox Profiler, version 60: later ones read it and bring it up to
 * date. Its tables are columns, in arrays beside each other:
 * https://github.com/firefox-devtools/profiler/blob/main/docs-developer/CHANGELOG-formats.md
 *
 * Strings: first all symbols' names, then modules', then those of source files. Calls and
 * allocations have no times of their own, so theirs is the sum of what stands before them.
 */
#include "export/export.h"
#include "export/frame-table.h"
#include "format/format.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

struct firefox {
	const struct dw_export *e;
	struct dw_out *out;
	struct dw_inline_frames frames;
	struct dw_export_threads threads;
	struct dw_buf scratch;
	uint32_t *source_of;	  /* by string id: index of its source + 1 */
	DW_VEC(uint32_t) sources; /* string ids */
	uint32_t *stack_of;	  /* by path: its stack's index */
	size_t n;		  /* elements written to the array at hand */
	uint32_t column;	  /* of frames: enum frame_column */
	uint32_t symbols_n, modules_n;
};

static void put_string(struct firefox *f, const char *text)
{
	dw_json_next(f->out, f->n++);
	dw_format_json_string(f->out, text);
}

static const char *string(const struct firefox *f, uint32_t id)
{
	return dw_strings_get(&f->e->profile->strings, id);
}

static int find_source(struct firefox *f, uint32_t file)
{
	if (!file || f->source_of[file])
		return 0;
	if (dw_vec_push(&f->sources, file))
		return -ENOMEM;
	f->source_of[file] = (uint32_t)f->sources.n;
	return 0;
}

static uint32_t declared_in(const struct firefox *f, uint32_t symbol)
{
	const struct dw_function *function = dw_paths_function(&f->e->paths, symbol);

	return function ? function->file : 0;
}

static int find_sources(struct firefox *f)
{
	f->source_of = calloc(f->e->profile->strings.n + 1, sizeof *f->source_of);
	if (!f->source_of)
		return -ENOMEM;
	for (uint32_t symbol = 0; symbol < f->symbols_n; symbol++)
		if (find_source(f, declared_in(f, symbol)))
			return -ENOMEM;
	return 0;
}

static void begin_column(struct firefox *f, const char *name)
{
	dw_out_printf(f->out, "\"%s\":[", name);
	f->n = 0;
}

static void fill_column(struct firefox *f, const char *name, size_t n, const char *value)
{
	begin_column(f, name);
	for (size_t i = 0; i < n; i++) {
		dw_json_next(f->out, i);
		dw_out_puts(f->out, value);
	}
	dw_out_puts(f->out, "],");
}

enum frame_column { FRAME_ADDRESS, FRAME_DEPTH, FRAME_FUNCTION, FRAME_LINE, FRAME_COLUMN };

static void put_frame(void *ctx, uint32_t location, uint32_t i)
{
	struct firefox *f = ctx;
	const struct dw_frame *frame = dw_frames_get(&f->e->profile->frames, location);
	struct dw_path_line line = dw_paths_line(&f->e->paths, location, i);

	switch ((enum frame_column)f->column) {
	case FRAME_ADDRESS:
		if (frame && frame->module)
			dw_json_number(f->out, f->n, frame->svma);
		else
			dw_out_puts(f->out, f->n ? ",-1" : "-1");
		break;
	case FRAME_DEPTH:
		dw_json_number(f->out, f->n, dw_paths_lines(&f->e->paths, location) - 1 - i);
		break;
	case FRAME_FUNCTION:
		dw_json_number(f->out, f->n, line.symbol);
		break;
	case FRAME_LINE:
		dw_json_number_or_null(f->out, f->n, line.line, line.line);
		break;
	case FRAME_COLUMN:
		dw_json_number_or_null(f->out, f->n, line.column, line.column);
		break;
	}
	f->n++;
}

static void put_frames(struct firefox *f)
{
	static const char *const names[] = {
		[FRAME_ADDRESS] = "address", [FRAME_DEPTH] = "inlineDepth",
		[FRAME_FUNCTION] = "func",   [FRAME_LINE] = "line",
		[FRAME_COLUMN] = "column",
	};

	dw_out_puts(f->out, "\"frameTable\":{");
	for (f->column = FRAME_ADDRESS; f->column <= FRAME_COLUMN; f->column++) {
		begin_column(f, names[f->column]);
		dw_inline_frames_each(&f->frames, put_frame, f);
		dw_out_puts(f->out, "],\n");
	}
	fill_column(f, "category", f->frames.n, "1");
	fill_column(f, "subcategory", f->frames.n, "0");
	fill_column(f, "nativeSymbol", f->frames.n, "null");
	fill_column(f, "innerWindowID", f->frames.n, "0");
	dw_out_printf(f->out, "\"length\":%" PRIu32 "},\n", f->frames.n);
}

static void put_functions(struct firefox *f)
{
	const struct dw_paths *paths = &f->e->paths;

	dw_out_puts(f->out, "\"funcTable\":{");
	begin_column(f, "name");
	for (uint32_t i = 0; i < f->symbols_n; i++)
		dw_json_number(f->out, i, i);
	dw_out_puts(f->out, "],\n");
	begin_column(f, "resource");
	for (uint32_t i = 0; i < f->symbols_n; i++) {
		const struct dw_function *function = dw_paths_function(paths, i);

		if (function && function->module)
			dw_json_number(f->out, i, function->module - 1);
		else
			dw_out_puts(f->out, i ? ",-1" : "-1");
	}
	dw_out_puts(f->out, "],\n");
	begin_column(f, "source");
	for (uint32_t i = 0; i < f->symbols_n; i++) {
		uint32_t source = f->source_of[declared_in(f, i)];

		dw_json_number_or_null(f->out, i, source, source - 1);
	}
	dw_out_puts(f->out, "],\n");
	begin_column(f, "lineNumber");
	for (uint32_t i = 0; i < f->symbols_n; i++) {
		const struct dw_function *function = dw_paths_function(paths, i);
		uint32_t line = function ? function->line : 0;

		dw_json_number_or_null(f->out, i, line, line);
	}
	dw_out_puts(f->out, "],\n");
	fill_column(f, "columnNumber", f->symbols_n, "null");
	fill_column(f, "isJS", f->symbols_n, "false");
	fill_column(f, "relevantForJS", f->symbols_n, "false");
	dw_out_printf(f->out, "\"length\":%" PRIu32 "},\n", f->symbols_n);
}

/* The innermost stack of @path, whose first one has the index @at. Returns the index behind. */
static uint32_t put_prefixes(struct firefox *f, uint32_t path, uint32_t at)
{
	uint32_t location = dw_paths_location(&f->e->paths, path);
	uint32_t parent = dw_paths_parent(&f->e->paths, path);
	uint32_t n = f->frames.first[location + 1] - f->frames.first[location];

	dw_json_number_or_null(f->out, at, parent, parent ? f->stack_of[parent] : 0);
	for (uint32_t i = 1; i < n; i++)
		dw_json_number(f->out, at + i, at + i - 1);
	f->stack_of[path] = at + n - 1;
	return at + n;
}

static int put_stacks(struct firefox *f)
{
	const struct dw_paths *paths = &f->e->paths;
	uint32_t at = 0;

	f->stack_of = calloc(paths->n + 1, sizeof *f->stack_of);
	if (!f->stack_of)
		return -ENOMEM;
	dw_out_puts(f->out, "\"stackTable\":{\"prefix\":[");
	for (uint32_t path = 0; path < paths->n; path++)
		if (f->frames.used[path])
			at = put_prefixes(f, path, at);
	dw_out_puts(f->out, "],\n\"frame\":[");
	at = 0;
	for (uint32_t path = 0; path < paths->n; path++) {
		uint32_t location = dw_paths_location(paths, path);

		if (!f->frames.used[path])
			continue;
		for (uint32_t frame = f->frames.first[location];
		     frame < f->frames.first[location + 1]; frame++)
			dw_json_number(f->out, at++, frame);
	}
	dw_out_printf(f->out, "],\"length\":%" PRIu32 "},\n", at);
	return 0;
}

static void put_resources(struct firefox *f)
{
	dw_out_puts(f->out, "\"resourceTable\":{");
	begin_column(f, "name");
	for (uint32_t i = 0; i < f->modules_n; i++)
		dw_json_number(f->out, i, f->symbols_n + i);
	dw_out_puts(f->out, "],");
	begin_column(f, "lib");
	for (uint32_t i = 0; i < f->modules_n; i++)
		dw_json_number(f->out, i, i);
	dw_out_puts(f->out, "],");
	fill_column(f, "host", f->modules_n, "null");
	fill_column(f, "type", f->modules_n, "1");
	dw_out_printf(f->out, "\"length\":%" PRIu32 "},\n", f->modules_n);
}

static void put_strings(struct firefox *f)
{
	begin_column(f, "stringArray");
	for (uint32_t i = 0; i < f->symbols_n; i++)
		put_string(f, dw_paths_name(&f->e->paths, i, &f->scratch));
	for (uint32_t id = 1; id <= f->modules_n; id++)
		put_string(f, string(f, dw_modules_get(&f->e->profile->modules, id)->name));
	dw_vec_each(file, &f->sources)
		put_string(f, string(f, *file));
	dw_out_puts(f->out, "],\n\"sources\":{");
	fill_column(f, "uuid", f->sources.n, "null");
	begin_column(f, "filename");
	for (size_t i = 0; i < f->sources.n; i++)
		dw_json_number(f->out, i, f->symbols_n + f->modules_n + i);
	dw_out_printf(f->out, "],\"length\":%zu},\n", f->sources.n);
}

static int put_shared(struct firefox *f)
{
	int rc;

	dw_out_puts(f->out, "\"shared\":{");
	rc = put_stacks(f);
	put_frames(f);
	put_functions(f);
	put_resources(f);
	put_strings(f);
	dw_out_puts(f->out, "\"nativeSymbols\":{\"libIndex\":[],\"address\":[],\"name\":[],"
			    "\"functionSize\":[],\"length\":0}},\n");
	return rc;
}

/* A module's build id, all of it or as symbol servers for breakpad have it: its first 16 bytes, the
 * first three fields of which are little-endian numbers, and an age. */
static void put_build_id(struct firefox *f, const struct dw_module *m, bool breakpad)
{
	static const uint8_t order[] = {3, 2, 1, 0, 5, 4, 7, 6, 8, 9, 10, 11, 12, 13, 14, 15};

	for (unsigned i = 0; i < (breakpad ? sizeof order : m->build_id_bytes); i++)
		dw_out_printf(f->out, breakpad ? "%02X" : "%02x",
			      m->build_id[breakpad ? order[i] : i]);
	if (breakpad)
		dw_out_puts(f->out, "0");
}

static void put_libraries(struct firefox *f)
{
	dw_out_puts(f->out, "\"libs\":[");
	for (uint32_t id = 1; id <= f->modules_n; id++) {
		const struct dw_module *m = dw_modules_get(&f->e->profile->modules, id);

		dw_out_puts(f->out, id > 1 ? ",\n{\"arch\":\"x86_64\",\"name\":"
					   : "{\"arch\":\"x86_64\",\"name\":");
		dw_format_json_string(f->out, string(f, m->name));
		dw_out_puts(f->out, ",\"debugName\":");
		dw_format_json_string(f->out, string(f, m->name));
		dw_out_puts(f->out, ",\"path\":");
		dw_format_json_string(f->out, string(f, m->path));
		dw_out_puts(f->out, ",\"debugPath\":");
		dw_format_json_string(f->out, string(f, m->path));
		dw_out_puts(f->out, ",\"breakpadId\":\"");
		put_build_id(f, m, true);
		dw_out_puts(f->out, m->build_id_bytes ? "\",\"codeId\":\"" : "\",\"codeId\":null}");
		put_build_id(f, m, false);
		if (m->build_id_bytes)
			dw_out_puts(f->out, "\"}");
	}
	dw_out_puts(f->out, "],\n");
}

static void put_meta(struct firefox *f)
{
	const struct dw_facts *facts = &f->e->profile->facts;
	const char *command = dw_facts_get_text(facts, "command");
	int64_t start_ns = dw_facts_get(facts, "start_realtime_ns", 0);
	uint64_t period_ns = f->e->values.period_ns;

	dw_out_puts(f->out,
		    "{\"meta\":{\"version\":31,\"preprocessedProfileVersion\":60,"
		    "\"processType\":0,\"stackwalk\":1,\"debug\":false,"
		    "\"importedFrom\":\"dwell\",\"platform\":\"Linux\",\"symbolicated\":true,"
		    "\"usesOnlyOneStackType\":true,\"sourceCodeIsNotOnSearchfox\":true,"
		    "\"markerSchema\":[],\"categories\":["
		    "{\"name\":\"Other\",\"color\":\"grey\",\"subcategories\":[\"Other\"]},"
		    "{\"name\":\"User\",\"color\":\"yellow\",\"subcategories\":[\"Other\"]}],"
		    "\"sampleUnits\":{\"time\":\"ms\",\"eventDelay\":\"ms\","
		    "\"threadCPUDelta\":\"ns\"},\n\"interval\":");
	dw_json_ms(f->out, 0, period_ns ? period_ns : 1000000);
	dw_out_puts(f->out, ",\"startTime\":");
	dw_json_ms(f->out, 0, start_ns > 0 ? (uint64_t)start_ns : 0);
	dw_out_puts(f->out, ",\"product\":");
	dw_format_json_string(f->out, command ? command : "dwell");
	dw_out_puts(f->out, "},\n");
}

static void put_times(struct firefox *f, uint32_t thread)
{
	const struct dw_sample_values *w = &f->e->values;
	uint64_t sum = 0;

	begin_column(f, "time");
	for (uint32_t i = f->threads.first[thread]; i != DWELL_NO_ROW;
	     i = dw_export_threads_next(&f->threads, i)) {
		dw_json_ms(f->out, f->n++, w->times_ns.n ? w->times_ns.v[i] : sum);
		sum += dw_sample_value(w, i, f->e->kind);
	}
	dw_out_puts(f->out, "],\n");
}

static void put_values(struct firefox *f, uint32_t thread)
{
	const struct dw_sample_values *w = &f->e->values;
	enum dw_unit unit = w->kinds[f->e->kind].unit;
	static const char *const types[] = {
		[DWELL_UNIT_COUNT] = "samples",
		[DWELL_UNIT_NS] = "tracing-ms",
		[DWELL_UNIT_BYTES] = "bytes",
	};

	begin_column(f, "weight");
	for (uint32_t i = f->threads.first[thread]; i != DWELL_NO_ROW;
	     i = dw_export_threads_next(&f->threads, i)) {
		uint64_t value = dw_sample_value(w, i, f->e->kind);

		if (unit == DWELL_UNIT_NS)
			dw_json_ms(f->out, f->n++, value);
		else
			dw_json_number(f->out, f->n++, value);
	}
	dw_out_printf(f->out, "],\"weightType\":\"%s\",\n", types[unit]);
}

static void put_samples(struct firefox *f, uint32_t thread)
{
	dw_out_puts(f->out, "\"samples\":{");
	begin_column(f, "stack");
	for (uint32_t i = f->threads.first[thread]; i != DWELL_NO_ROW;
	     i = dw_export_threads_next(&f->threads, i))
		dw_json_number(f->out, f->n++, f->stack_of[f->e->values.rows.v[i].path]);
	dw_out_puts(f->out, "],\n");
	put_times(f, thread);
	put_values(f, thread);
	dw_out_printf(f->out, "\"length\":%zu},\n", f->n);
}

static void put_thread(struct firefox *f, uint32_t thread)
{
	const struct dw_thread *t = dw_threads_get(&f->e->profile->threads, thread);
	const struct dw_process *p = dw_paths_process(&f->e->paths, thread);
	bool ended = t && t->end_ns != DWELL_TIME_NONE;

	dw_out_puts(f->out, f->n ? ",\n{\"name\":" : "{\"name\":");
	dw_format_json_string(f->out, t ? dw_paths_thread_name(&f->e->paths, thread) : "[unknown]");
	dw_out_puts(f->out, ",\"processName\":");
	dw_format_json_string(f->out, p ? string(f, p->name) : "[unknown]");
	dw_out_printf(f->out,
		      ",\"pid\":\"%" PRId32 "\",\"tid\":%" PRId32 ",\"isMainThread\":%s,"
		      "\"processType\":\"default\",\"processStartupTime\":",
		      p ? p->pid : 0, t ? t->tid : 0,
		      t && p && t->tid == p->pid ? "true" : "false");
	dw_json_ms(f->out, 0, p && p->begin_ns != DWELL_TIME_NONE ? p->begin_ns : 0);
	dw_out_puts(f->out, ",\"processShutdownTime\":null,\"registerTime\":");
	dw_json_ms(f->out, 0, t && t->begin_ns != DWELL_TIME_NONE ? t->begin_ns : 0);
	dw_out_puts(f->out, ",\"unregisterTime\":");
	if (ended)
		dw_json_ms(f->out, 0, t->end_ns);
	dw_out_puts(f->out, ended ? ",\n" : "null,\n");
	put_samples(f, thread);
	dw_out_puts(f->out, "\"pausedRanges\":[],\"markers\":{\"data\":[],\"name\":[],"
			    "\"startTime\":[],\"endTime\":[],\"phase\":[],\"category\":[],"
			    "\"length\":0}}");
}

static int put_document(struct firefox *f)
{
	size_t threads = 0;
	int rc;

	put_meta(f);
	put_libraries(f);
	rc = put_shared(f);
	dw_out_puts(f->out, "\"threads\":[");
	for (uint32_t thread = 0; thread < f->threads.n && !rc && !f->out->failed; thread++) {
		if (f->threads.first[thread] == DWELL_NO_ROW)
			continue;
		f->n = threads++;
		put_thread(f, thread);
	}
	dw_out_puts(f->out, "]}\n");
	return rc;
}

static int write_firefox(const struct dw_export *e, struct dw_out *out)
{
	struct firefox f = {
		.e = e,
		.out = out,
		.symbols_n = dw_paths_symbols(&e->paths),
		.modules_n = dw_modules_count(&e->profile->modules),
	};
	int rc = dw_inline_frames_init(&f.frames, &e->paths, &e->values);

	if (!rc)
		rc = dw_export_threads_init(&f.threads, &e->paths, &e->values);
	if (!rc)
		rc = find_sources(&f);
	if (!rc)
		rc = put_document(&f);
	dw_inline_frames_release(&f.frames);
	dw_export_threads_release(&f.threads);
	dw_buf_release(&f.scratch);
	dw_vec_release(&f.sources);
	free(f.source_of);
	free(f.stack_of);
	return rc;
}

const struct dw_export_ops dw_export_firefox = {
	.name = "firefox",
	.help = "JSON for profiler.firefox.com: threads and time",
	.in_order = true,
	.single = true,
	.write = write_firefox,
};
