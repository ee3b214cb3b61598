/*
 * pprof's profile.proto, gzip'd: https://github.com/google/pprof/blob/main/proto/profile.proto
 *
 * A location has a line for each of its functions; a sample is a path of a thread with all its
 * values. Strings are told when they are first needed, locations and functions likewise.
 * Processes map modules at addresses of their own, locations have those of the files: so each
 * module's mapping is where the file says, from its first to its last address in use.
 */
#include "base/buf.h"
#include "base/map.h"
#include "export/export.h"
#include "format/text.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

enum { VARINT = 0, LENGTH = 2, TYPE_BITS = 3 };

/*
 * A message of Protocol Buffers is bytes in a buffer, see
 * https://protobuf.dev/programming-guides/encoding/. A field of value 0 is left out, as readers
 * take it for that.
 */
static void put_field(struct dw_buf *message, unsigned field, uint64_t v)
{
	if (!v)
		return;
	dw_buf_put_uleb(message, (uint64_t)field << TYPE_BITS | VARINT);
	dw_buf_put_uleb(message, v);
}

/* A text, a message within, or packed numbers. Empty ones too, since a list of texts may have such.
 */
static void put_field_bytes(struct dw_buf *message, unsigned field, const void *p, size_t n)
{
	dw_buf_put_uleb(message, (uint64_t)field << TYPE_BITS | LENGTH);
	dw_buf_put_uleb(message, n);
	dw_buf_put(message, p, n);
}

/* @inner, which is emptied for the next one. */
static void put_field_message(struct dw_buf *message, unsigned field, struct dw_buf *inner)
{
	put_field_bytes(message, field, inner->data, inner->len);
	message->failed |= inner->failed;
	dw_buf_clear(inner);
}

enum { BLOCK_BYTES = 64 * 1024, GZIP_WINDOW_BITS = 15 + 16, MEMORY_LEVEL = 8 };

/* Bytes to a sink through gzip, at the fastest level: profiles are large, and rarely kept. With a
 * buffer of its own deflate() cannot fail. */
struct gzip {
	z_stream stream;
	struct dw_out *out;
	unsigned char block[BLOCK_BYTES];
};

/* Begin a file in @out. NULL = no memory. */
static struct gzip *gzip_new(struct dw_out *out)
{
	struct gzip *z = calloc(1, sizeof *z);

	if (!z)
		return NULL;
	z->out = out;
	if (deflateInit2(&z->stream, Z_BEST_SPEED, Z_DEFLATED, GZIP_WINDOW_BITS, MEMORY_LEVEL,
			 Z_DEFAULT_STRATEGY) == Z_OK)
		return z;
	free(z);
	return NULL;
}

/* Compress what the stream has been given, to its end if @flush is Z_FINISH. */
static void drain(struct gzip *z, int flush)
{
	do {
		z->stream.next_out = z->block;
		z->stream.avail_out = sizeof z->block;
		deflate(&z->stream, flush);
		dw_out_write(z->out, z->block, sizeof z->block - z->stream.avail_out);
	} while (!z->stream.avail_out);
}

static void gzip_put(struct gzip *z, const void *p, size_t n)
{
	const unsigned char *at = p;

	while (n) {
		unsigned take = n < BLOCK_BYTES ? (unsigned)n : BLOCK_BYTES;

		z->stream.next_in = (unsigned char *)at;
		z->stream.avail_in = take;
		drain(z, Z_NO_FLUSH);
		at += take;
		n -= take;
	}
}

/* End the file and free @z. NULL is fine. */
static void gzip_close(struct gzip *z)
{
	if (!z)
		return;
	drain(z, Z_FINISH);
	deflateEnd(&z->stream);
	free(z);
}

/* Fields of the messages. */
enum {
	PROFILE_SAMPLE_TYPE = 1,
	PROFILE_SAMPLE,
	PROFILE_MAPPING,
	PROFILE_LOCATION,
	PROFILE_FUNCTION,
	PROFILE_STRING,
	PROFILE_TIME_NS = 9,
	PROFILE_DURATION_NS,
	PROFILE_PERIOD_TYPE,
	PROFILE_PERIOD,
	PROFILE_COMMENT,
	PROFILE_DEFAULT_TYPE,
};
enum { TYPE_TYPE = 1, TYPE_UNIT };
enum { SAMPLE_LOCATION = 1, SAMPLE_VALUE, SAMPLE_LABEL };
enum { LABEL_KEY = 1, LABEL_TEXT, LABEL_NUMBER };
enum {
	MAPPING_ID = 1,
	MAPPING_START,
	MAPPING_LIMIT,
	MAPPING_FILE = 5,
	MAPPING_BUILD_ID,
	MAPPING_HAS_FUNCTIONS,
	MAPPING_HAS_FILES,
	MAPPING_HAS_LINES,
	MAPPING_HAS_INLINES,
};
enum { LOCATION_ID = 1, LOCATION_MAPPING, LOCATION_ADDRESS, LOCATION_LINE };
enum { LINE_FUNCTION = 1, LINE_LINE, LINE_COLUMN };
enum { FUNCTION_ID = 1, FUNCTION_NAME, FUNCTION_SYSTEM_NAME, FUNCTION_FILE, FUNCTION_LINE };

enum { FLUSH_BYTES = 256 * 1024 };

/* Where a module's locations lie. */
struct extent {
	uint64_t first, last;
};

struct pprof {
	const struct dw_export *e;
	struct gzip *gzip;
	struct dw_out text;    /* a buffer */
	struct dw_buf message; /* of the profile: fields to be written */
	struct dw_buf part, inner, packed, scratch;
	uint32_t *string_of; /* by string id of the profile: index in ours, 0 = not told yet */
	uint32_t strings_n;
	uint32_t *thread_of;		/* by thread id: index of its name's string */
	uint8_t *locations, *functions; /* by location, by symbol: 1 = told */
	struct extent *modules;		/* by module id */
};

static void flush(struct pprof *p, size_t above)
{
	if (p->message.len <= above)
		return;
	gzip_put(p->gzip, p->message.data, p->message.len);
	dw_buf_clear(&p->message);
}

/* Tell a new string and give its index. */
static uint32_t put_text(struct pprof *p, const char *s)
{
	if (!*s && p->strings_n)
		return 0;
	dw_buf_clear(&p->text.buf);
	dw_text_put(&p->text, s);
	put_field_bytes(&p->message, PROFILE_STRING, p->text.buf.data, p->text.buf.len);
	return p->strings_n++;
}

static uint32_t find_text(struct pprof *p, uint32_t id)
{
	if (id && !p->string_of[id])
		p->string_of[id] = put_text(p, dw_strings_get(&p->e->profile->strings, id));
	return id ? p->string_of[id] : 0;
}

static void put_function(struct pprof *p, uint32_t symbol)
{
	const struct dw_function *f = dw_paths_function(&p->e->paths, symbol);
	uint32_t name, system;

	if (p->functions[symbol])
		return;
	p->functions[symbol] = 1;
	name = f ? find_text(p, f->name)
		 : put_text(p, dw_paths_name(&p->e->paths, symbol, &p->scratch));
	system = f && f->linkage_name ? find_text(p, f->linkage_name) : name;
	/* Ids are not 0. */
	put_field(&p->part, FUNCTION_ID, (uint64_t)symbol + 1);
	put_field(&p->part, FUNCTION_NAME, name);
	put_field(&p->part, FUNCTION_SYSTEM_NAME, system);
	if (f) {
		put_field(&p->part, FUNCTION_FILE, find_text(p, f->file));
		put_field(&p->part, FUNCTION_LINE, f->line);
	}
	put_field_message(&p->message, PROFILE_FUNCTION, &p->part);
}

/* Note that @frame, of a module, is used. */
static void extend_module(struct pprof *p, const struct dw_frame *frame)
{
	struct extent *m = &p->modules[frame->module];

	if (m->last < m->first)
		*m = (struct extent){frame->svma, frame->svma};
	if (frame->svma < m->first)
		m->first = frame->svma;
	if (frame->svma > m->last)
		m->last = frame->svma;
}

static void put_location(struct pprof *p, uint32_t location)
{
	const struct dw_paths *paths = &p->e->paths;
	const struct dw_frame *frame = dw_frames_get(&p->e->profile->frames, location);
	uint32_t lines = dw_paths_lines(paths, location);

	if (p->locations[location])
		return;
	p->locations[location] = 1;
	for (uint32_t i = 0; i < lines; i++)
		put_function(p, dw_paths_line(paths, location, i).symbol);
	put_field(&p->part, LOCATION_ID, (uint64_t)location + 1);
	if (frame && frame->module) {
		put_field(&p->part, LOCATION_MAPPING, frame->module);
		extend_module(p, frame);
	}
	put_field(&p->part, LOCATION_ADDRESS, frame ? frame->svma : 0);
	for (uint32_t i = 0; i < lines; i++) {
		struct dw_path_line line = dw_paths_line(paths, location, i);

		put_field(&p->inner, LINE_FUNCTION, (uint64_t)line.symbol + 1);
		put_field(&p->inner, LINE_LINE, line.line);
		put_field(&p->inner, LINE_COLUMN, line.column);
		put_field_message(&p->part, LOCATION_LINE, &p->inner);
	}
	put_field_message(&p->message, PROFILE_LOCATION, &p->part);
}

static void put_label(struct pprof *p, uint32_t key, uint32_t text, int64_t number)
{
	put_field(&p->inner, LABEL_KEY, key);
	put_field(&p->inner, LABEL_TEXT, text);
	put_field(&p->inner, LABEL_NUMBER, (uint64_t)number);
	put_field_message(&p->part, SAMPLE_LABEL, &p->inner);
}

/* The first strings: what labels are called. */
enum { TEXT_EMPTY, TEXT_PID, TEXT_TID, TEXT_PROCESS, TEXT_THREAD };

static const char *const first_texts[] = {
	[TEXT_EMPTY] = "",	    [TEXT_PID] = "pid",	      [TEXT_TID] = "tid",
	[TEXT_PROCESS] = "process", [TEXT_THREAD] = "thread",
};

static void put_labels(struct pprof *p, uint32_t thread)
{
	const struct dw_thread *t = dw_threads_get(&p->e->profile->threads, thread);
	const struct dw_process *process = dw_paths_process(&p->e->paths, thread);

	if (process) {
		put_label(p, TEXT_PID, 0, process->pid);
		if (process->name)
			put_label(p, TEXT_PROCESS, find_text(p, process->name), 0);
	}
	if (!t)
		return;
	put_label(p, TEXT_TID, 0, t->tid);
	if (!p->thread_of[thread])
		p->thread_of[thread] = put_text(p, dw_paths_thread_name(&p->e->paths, thread));
	if (p->thread_of[thread])
		put_label(p, TEXT_THREAD, p->thread_of[thread], 0);
}

static void put_sample(struct pprof *p, size_t i)
{
	const struct dw_sample_values *w = &p->e->values;
	uint32_t path = w->rows.v[i].path;

	do {
		uint32_t location = dw_paths_location(&p->e->paths, path);

		put_location(p, location);
		dw_buf_put_uleb(&p->packed, (uint64_t)location + 1);
		path = dw_paths_parent(&p->e->paths, path);
	} while (path);
	put_field_message(&p->part, SAMPLE_LOCATION, &p->packed);
	for (unsigned k = 0; k < w->kinds_n; k++)
		dw_buf_put_uleb(&p->packed, dw_sample_value(w, i, k));
	put_field_message(&p->part, SAMPLE_VALUE, &p->packed);
	put_labels(p, w->rows.v[i].thread);
	put_field_message(&p->message, PROFILE_SAMPLE, &p->part);
}

static void put_type(struct pprof *p, unsigned field, const struct dw_value_kind *kind)
{
	static const char *const units[] = {
		[DWELL_UNIT_COUNT] = "count",
		[DWELL_UNIT_NS] = "nanoseconds",
		[DWELL_UNIT_BYTES] = "bytes",
	};

	put_field(&p->part, TYPE_TYPE, put_text(p, kind->name));
	put_field(&p->part, TYPE_UNIT, put_text(p, units[kind->unit]));
	put_field_message(&p->message, field, &p->part);
}

static void put_head(struct pprof *p)
{
	const struct dw_sample_values *w = &p->e->values;
	const struct dw_facts *facts = &p->e->profile->facts;
	const char *command = dw_facts_get_text(facts, "command");

	for (size_t i = 0; i < sizeof first_texts / sizeof *first_texts; i++)
		put_text(p, first_texts[i]);
	for (unsigned k = 0; k < w->kinds_n; k++)
		put_type(p, PROFILE_SAMPLE_TYPE, &w->kinds[k]);
	put_field(&p->message, PROFILE_TIME_NS,
		  (uint64_t)dw_facts_get(facts, "start_realtime_ns", 0));
	put_field(&p->message, PROFILE_DURATION_NS,
		  (uint64_t)dw_facts_get(facts, "duration_ns", 0));
	if (w->period_ns)
		put_type(p, PROFILE_PERIOD_TYPE, &w->kinds[1]);
	put_field(&p->message, PROFILE_PERIOD, w->period_ns);
	if (command)
		put_field(&p->message, PROFILE_COMMENT, put_text(p, command));
	/* Readers show the last type first. */
	if (!dw_measures_has(dw_profile_measures(p->e->profile), DWELL_MEASURE_OBJECTS))
		put_field(&p->message, PROFILE_DEFAULT_TYPE,
			  put_text(p, w->kinds[w->period_ns ? 1 : 0].name));
}

static void put_mapping(struct pprof *p, uint32_t id)
{
	const struct dw_module *m = dw_modules_get(&p->e->profile->modules, id);
	const struct extent *extent = &p->modules[id];
	char hex[2 * DWELL_BUILD_ID_MAX_BYTES + 1] = "";

	if (extent->last < extent->first)
		return;
	for (unsigned i = 0; i < m->build_id_bytes && i < DWELL_BUILD_ID_MAX_BYTES; i++) {
		hex[2 * i] = "0123456789abcdef"[m->build_id[i] >> 4];
		hex[2 * i + 1] = "0123456789abcdef"[m->build_id[i] & 15];
	}
	put_field(&p->part, MAPPING_ID, id);
	put_field(&p->part, MAPPING_START, extent->first);
	put_field(&p->part, MAPPING_LIMIT, extent->last + 1);
	put_field(&p->part, MAPPING_FILE, find_text(p, m->path));
	put_field(&p->part, MAPPING_BUILD_ID, put_text(p, hex));
	put_field(&p->part, MAPPING_HAS_FUNCTIONS, 1);
	put_field(&p->part, MAPPING_HAS_FILES, 1);
	put_field(&p->part, MAPPING_HAS_LINES, 1);
	put_field(&p->part, MAPPING_HAS_INLINES, 1);
	put_field_message(&p->message, PROFILE_MAPPING, &p->part);
}

static int put_document(struct pprof *p, const struct dw_out *out)
{
	put_head(p);
	for (size_t i = 0; i < p->e->values.rows.n && !p->message.failed && !out->failed; i++) {
		put_sample(p, i);
		flush(p, FLUSH_BYTES);
	}
	for (uint32_t id = 1; id <= dw_modules_count(&p->e->profile->modules); id++)
		put_mapping(p, id);
	flush(p, 0);
	return p->message.failed || p->text.failed ? -ENOMEM : 0;
}

static int allocate(struct pprof *p, struct dw_out *out)
{
	const struct dw_export *e = p->e;
	size_t modules = (size_t)dw_modules_count(&e->profile->modules) + 1;

	p->string_of = calloc((size_t)e->profile->strings.n + 1, sizeof *p->string_of);
	p->thread_of = calloc(e->paths.threads_n, sizeof *p->thread_of);
	p->locations = calloc(dw_paths_locations(&e->paths), 1);
	p->functions = calloc(dw_paths_symbols(&e->paths), 1);
	p->modules = calloc(modules, sizeof *p->modules);
	for (size_t i = 0; p->modules && i < modules; i++)
		p->modules[i].first = UINT64_MAX;
	p->gzip = gzip_new(out);
	return p->string_of && p->thread_of && p->locations && p->functions && p->modules && p->gzip
		       ? 0
		       : -ENOMEM;
}

static int write_pprof(const struct dw_export *e, struct dw_out *out)
{
	struct pprof p = {.e = e};
	int rc;

	dw_out_init_buffer(&p.text);
	rc = allocate(&p, out);
	if (!rc)
		rc = put_document(&p, out);
	gzip_close(p.gzip);
	dw_out_close(&p.text);
	dw_buf_release(&p.message);
	dw_buf_release(&p.part);
	dw_buf_release(&p.inner);
	dw_buf_release(&p.packed);
	dw_buf_release(&p.scratch);
	free(p.string_of);
	free(p.thread_of);
	free(p.locations);
	free(p.functions);
	free(p.modules);
	return rc;
}

const struct dw_export_ops dw_export_pprof = {
	.name = "pprof",
	.help = "profile.proto, compressed: all values, for go tool pprof and its relatives",
	.binary = true,
	.write = write_pprof,
};
