/*
 * Unit tests of what is told of files: lines of a region to rows of a profile, honest or not, and
 * rows to totals under a filter.
 */
#include "check.h"
#include "maker.h"
#include "scratch.h"

#include "analysis/totals.h"
#include "collect/calls/calls.h"

#include "region-writer.h"

enum {
	LINES = 256,
	THREAD = 1,
	ROOT = THREAD + sizeof(struct dw_tree_thread) / DWELL_LINE_BYTES,
	FILE_LINE = 20, /* with its name in those that follow */
	IO_LINE = 60,
};

/* A process with one thread, and its reader. */
struct process {
	struct region_writer w;
	uint64_t (*lines)[8];
	struct dw_profile p;
	struct dw_region_calls *r;
	uint32_t slice;
};

static int name_callee(void *ctx, uint64_t key, uint32_t *entry, bool *is_external)
{
	(void)ctx;
	*entry = (uint32_t)key + 1;
	*is_external = false;
	return 0;
}

static int name_site(void *ctx, uint64_t caller, uint32_t low, bool is_return,
		     struct dw_region_site *ret)
{
	(void)ctx;
	(void)caller;
	(void)low;
	(void)is_return;
	*ret = (struct dw_region_site){0};
	return 0;
}

static void open_process(struct process *x)
{
	static const struct dw_region_names names = {name_callee, name_site, NULL};
	size_t bytes = (sizeof(struct dw_region_header) + 4095) & ~(size_t)4095;
	struct dw_tree_thread *t;
	static unsigned n;
	char name[16];

	*x = (struct process){0};
	snprintf(name, sizeof name, "%u", n++);
	x->w = region_write(".", name, bytes + LINES * DWELL_LINE_BYTES);
	if (!x->w.h || dw_region_calls_new(&x->p, 1, &names, &x->r))
		abort();
	x->lines = (void *)((char *)x->w.h + bytes);
	x->w.h->chunks[0] = (struct dw_region_chunk){DWELL_REGION_CHUNK_ARENA, 0, bytes,
						     LINES * DWELL_LINE_BYTES};
	x->w.h->chunk_n = 1;
	x->w.h->arena_lines = LINES;
	x->w.h->threads[0] = THREAD;
	x->w.h->threads_n = 1;
	t = (void *)x->lines[THREAD];
	t->state = DWELL_THREAD_RUNNING;
	t->root = ROOT;
	((struct dw_tree_node *)x->lines[ROOT])->key = DWELL_KEY_ROOT;
}

static void close_process(struct process *x)
{
	dw_region_calls_free(x->r);
	dw_profile_release(&x->p);
	region_leave(&x->w);
}

static int read_now(struct process *x, bool is_last)
{
	static const struct dw_region_clock clock = {{0, 0}, 2.0};
	struct dw_region_head head;
	struct dw_region_reading now = {
		.head = &head, .clock = &clock, .slice = x->slice++, .is_last = is_last};
	int rc = dw_region_read_head(x->w.fd, &head);

	return rc ? rc : dw_region_calls_read(x->r, x->w.fd, &now);
}

/* The file of @line is called @name. */
static void put_file(struct process *x, uint32_t line, const char *name)
{
	struct dw_tree_file *file = (void *)x->lines[line];
	size_t at = sizeof file->name, bytes = strlen(name);

	file->bytes = (uint32_t)bytes;
	memcpy(file->name, name, bytes < at ? bytes : at);
	file->mark = DWELL_MARK_FILE;
	for (; at < bytes; at += sizeof((struct dw_tree_name){0}.name)) {
		struct dw_tree_name *more = (void *)x->lines[++line];
		size_t left = bytes - at;

		memcpy(more->name, name + at, left < sizeof more->name ? left : sizeof more->name);
		more->mark = DWELL_MARK_NAME;
	}
}

static struct dw_tree_file_io *put_io(struct process *x, uint32_t line, uint32_t file)
{
	struct dw_tree_file_io *io = (void *)x->lines[line];

	*io = (struct dw_tree_file_io){.reads = 3,
				       .bytes_read = 70,
				       .ticks = 50,
				       .function = 10,
				       .file = file,
				       .thread = THREAD,
				       .mark = DWELL_MARK_FILE_IO};
	return io;
}

static const char *name_of(const struct process *x, size_t row)
{
	return dw_strings_get(&x->p.strings, x->p.calls.files.v[row].file);
}

TEST(lines_become_rows_that_replace_themselves)
{
	char name[600];
	struct process process, *x = &process;
	struct dw_tree_file_io *io;
	const struct dw_call_file *f;

	memset(name, 'n', sizeof name - 1);
	name[0] = '/';
	name[sizeof name - 1] = 0;
	open_process(x);
	put_file(x, FILE_LINE, name);
	io = put_io(x, IO_LINE, FILE_LINE);
	put_io(x, IO_LINE + 1, 0)->function = DWELL_KEY_ROOT;
	CHECK_INT(read_now(x, false), 0);
	CHECK_INT(x->p.calls.files.n, 2);
	f = &x->p.calls.files.v[0];
	CHECK_INT(f->id, 1);
	CHECK_INT(f->thread, 1);
	CHECK_INT(f->entry, 11);
	CHECK_INT(f->sums.reads, 3);
	CHECK_INT(f->sums.bytes_read, 70);
	CHECK_INT(f->sums.time_ns, 100);
	CHECK_STR(name_of(x, 0), name);
	CHECK_INT(x->p.calls.files.v[1].file, 0);
	CHECK_INT(x->p.calls.files.v[1].entry, 0);
	CHECK_INT(read_now(x, false), 0);
	CHECK_INT(x->p.calls.files.n, 2); /* nothing has changed */
	io->writes = 8;
	io->bytes_written = 1;
	CHECK_INT(read_now(x, true), 0);
	CHECK_INT(x->p.calls.files.n, 3);
	CHECK_INT(x->p.calls.files.v[2].id, 1);
	CHECK_INT(x->p.calls.files.v[2].sums.writes, 8);
	CHECK_INT(x->p.calls.files.v[2].file, x->p.calls.files.v[0].file);
	CHECK_INT(dw_region_calls_stats(x->r)->broken, 0);
	close_process(x);
}

TEST(lies_about_files_have_no_names_and_no_threads)
{
	struct process x;

	open_process(&x);
	put_file(&x, FILE_LINE, "/too/long");
	((struct dw_tree_file *)x.lines[FILE_LINE])->bytes = DWELL_FILE_NAME_MAX + 1;
	put_file(&x, FILE_LINE + 1, "/it/ends/where/the/marks/of/its/lines/do/and/not/bb");
	((struct dw_tree_file *)x.lines[FILE_LINE + 1])->bytes = DWELL_FILE_NAME_MAX;
	put_io(&x, IO_LINE, FILE_LINE);
	put_io(&x, IO_LINE + 1, FILE_LINE + 1);
	put_io(&x, IO_LINE + 2, ROOT);
	put_io(&x, IO_LINE + 3, LINES + 1000);
	put_io(&x, IO_LINE + 4, FILE_LINE)->thread = ROOT;
	put_io(&x, IO_LINE + 5, FILE_LINE)->thread = UINT32_MAX;
	put_io(&x, IO_LINE + 6, FILE_LINE)->reads = 0;
	CHECK_INT(read_now(&x, true), 0);
	CHECK_INT(x.p.calls.files.n, 4);
	CHECK_STR(name_of(&x, 0), "");
	CHECK_STR(name_of(&x, 1), "/it/ends/where/the/marks/of/its/lines/do/and/not/bb");
	CHECK_STR(name_of(&x, 2), "");
	CHECK_STR(name_of(&x, 3), "");
	close_process(&x);
}

static uint32_t add_thread(struct dw_profile *p, uint32_t process)
{
	struct dw_thread t = {.process = process, .end_ns = DWELL_TIME_NONE};
	struct dw_call_node root = {.flags = DWELL_CALL_ROOT};
	uint32_t node;

	if (dw_threads_add(&p->threads, &t, &root.thread) || dw_calls_add(&p->calls, &root, &node))
		abort();
	return root.thread;
}

static void add_row(struct dw_profile *p, uint32_t thread, uint32_t entry, const char *name,
		    uint64_t reads)
{
	struct dw_call_file row = {.id = (uint32_t)p->calls.files.n + 1,
				   .thread = thread,
				   .entry = entry,
				   .file = mk_text(p, name),
				   .sums = {.reads = reads}};

	if (dw_vec_push(&p->calls.files, row))
		abort();
}

/* What totals have of the file called @name by @function, 0 = all of it; -1 = nothing. */
static int64_t reads_of(const struct dw_profile *p, const struct dw_totals *t, const char *name,
			uint32_t function)
{
	dw_vec_each(f, &t->files) {
		if (strcmp(dw_strings_get(&p->strings, f->file), name) == 0 &&
		    (function ? f->function == function : f->parent == UINT32_MAX))
			return (int64_t)f->sums.reads;
	}
	return -1;
}

TEST(threads_of_a_lane_are_added_up)
{
	struct dw_profile p = DW_PROFILE_INIT;
	struct dw_totals t = {0};
	struct dw_filter filter = {.by = DWELL_BY_NONE};
	uint32_t one = mk_module(&p, "one"), two = mk_module(&p, "two"), threads[2];
	uint32_t f = mk_function(&p, one, "f", NULL, 0), g = mk_function(&p, two, "g", NULL, 0);
	uint32_t entry[] = {mk_plain_frame(&p, f, 0, 0), mk_plain_frame(&p, g, 0, 0)};
	uint8_t modules[] = {0, 0, 0};
	struct dw_process process = {.end_ns = DWELL_TIME_NONE};
	uint32_t id;

	for (int i = 0; i < 2; i++) {
		process.pid = 10 + i;
		CHECK_INT(dw_processes_add(&p.processes, &process, &id), 0);
		threads[i] = add_thread(&p, id);
	}
	add_row(&p, threads[0], entry[0], "/a", 1);
	add_row(&p, threads[1], entry[0], "/a", 10);
	add_row(&p, threads[1], entry[1], "/a", 100);
	add_row(&p, threads[1], 0, "/b", 1000);
	CHECK_INT(dw_totals_compute(&p, &filter, DWELL_TOTALS_FILES, &t), 0);
	CHECK_INT(reads_of(&p, &t, "/a", 0), 111);
	CHECK_INT(reads_of(&p, &t, "/a", f), 11);
	CHECK_INT(reads_of(&p, &t, "/a", g), 100);
	CHECK_INT(reads_of(&p, &t, "/b", (uint32_t)DWELL_FUNCTION_ROOT), 1000);
	filter.threads = &threads[1];
	filter.threads_n = 1;
	CHECK_INT(dw_totals_compute(&p, &filter, DWELL_TOTALS_FILES, &t), 0);
	CHECK_INT(reads_of(&p, &t, "/a", f), 10);
	filter.focus.function = g;
	CHECK_INT(dw_totals_compute(&p, &filter, DWELL_TOTALS_FILES, &t), 0);
	CHECK_INT(t.files.n, 2);
	CHECK_INT(reads_of(&p, &t, "/a", 0), 100);
	filter = (struct dw_filter){.modules = modules, .modules_n = sizeof modules};
	modules[one] = 1;
	CHECK_INT(dw_totals_compute(&p, &filter, DWELL_TOTALS_FILES, &t), 0);
	CHECK_INT(reads_of(&p, &t, "/a", 0), 11);
	CHECK_INT(reads_of(&p, &t, "/b", 0), -1);
	filter = (struct dw_filter){.by = DWELL_BY_PROCESS};
	CHECK_INT(dw_totals_compute(&p, &filter, DWELL_TOTALS_FILES, &t), 0);
	CHECK_INT(t.files.n, 2 + 3 + 2);
	filter = (struct dw_filter){.from_ns = 1};
	CHECK_INT(dw_totals_compute(&p, &filter, DWELL_TOTALS_FILES, &t), 0);
	CHECK_INT(t.files.n, 0); /* nobody knows when they were read */
	dw_totals_release(&t);
	dw_profile_release(&p);
}

TEST_MAIN()
