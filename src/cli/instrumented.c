/*
 * Words, rows and lists of an instrumented run; see recording.h.
 */
#include "cli/recording.h"

#include "clone/clone.h"
#include "format/format.h"
#include "format/text.h"
#include "record/instrument.h"

#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

const char dw_calls_titles[] = "calls,function,module,address\r\n";

static const char *plural(uint64_t n)
{
	return n == 1 ? "" : "s";
}

/* Functions of one image by what became of them. */
struct counts {
	uint64_t all;
	uint64_t cloned;
	uint64_t left[DWELL_LEFT_REASONS];
	uint64_t called;
	uint64_t calls;
};

static void count(const struct dw_module_image *m, struct counts *t)
{
	*t = (struct counts){0};
	for (uint32_t i = 0; i < m->header.functions.n; i++) {
		const struct dw_clone_function_entry *f = &m->functions[i];

		t->all++;
		if (f->reason == DWELL_CLONED)
			t->cloned++;
		else if (f->reason < DWELL_LEFT_REASONS)
			t->left[f->reason]++;
		t->called += m->calls && m->calls[i];
		t->calls += m->calls ? m->calls[i] : 0;
	}
}

static void print_left(struct dw_out *out, const struct counts *t)
{
	for (uint32_t reason = 1; reason < DWELL_LEFT_REASONS; reason++)
		if (t->left[reason])
			dw_out_printf(out, "    %" PRIu64 " left alone: %s\n", t->left[reason],
				      dw_clone_reason_text(reason));
}

static const char *state_text(uint32_t state)
{
	static const char *const texts[] = {
		[DWELL_MODULE_EMPTY] = "its process ended before",
		[DWELL_MODULE_ASKED] = "its process ended before",
		[DWELL_MODULE_NONE] = "no clones were made",
		[DWELL_MODULE_LATE] = "the clones were not made in time",
		[DWELL_MODULE_DIFFERS] = "its code is not that of its file",
		[DWELL_MODULE_NO_SPACE] = "no room within 2 GB of it",
		[DWELL_MODULE_REFUSED] = "the kernel refused memory for it",
		[DWELL_MODULE_APART] = "its program had given up rights that it takes to ask dwell",
		[DWELL_MODULE_SCATTERED] = "its code lies in several segments",
	};

	return texts[state];
}

static void print_module(struct dw_out *out, const struct dw_module_image *m)
{
	uint64_t ran = m->processes[DWELL_MODULE_CLONED] + m->processes[DWELL_MODULE_CLOSED];
	struct counts t;

	count(m, &t);
	dw_out_puts(out, "  ");
	dw_text_put(out, m->path);
	dw_out_printf(out, ": %" PRIu64 " of %" PRIu64 " function%s", t.cloned, t.all,
		      plural(t.all));
	dw_out_printf(out, " ran from clones in %" PRIu64 " process%s", ran, ran == 1 ? "" : "es");
	if (m->calls)
		dw_out_printf(out, ", %" PRIu64 " call%s of %" PRIu64, t.calls, plural(t.calls),
			      t.called);
	dw_out_puts(out, "\n");
	print_left(out, &t);
}

/* Why modules that were wanted did not run from clones. */
static void print_failures(struct dw_out *out, const struct dw_module_image *m)
{
	for (uint32_t state = 0; state < DWELL_MODULE_CLOSED; state++) {
		uint64_t n = m->processes[state];

		if (!n || !state_text(state))
			continue;
		dw_out_puts(out, "  ");
		dw_text_put(out, m->path);
		dw_out_printf(out, ": as it is in %" PRIu64 " process%s: ", n, n == 1 ? "" : "es");
		dw_text_put(out, state == DWELL_MODULE_NONE && m->why ? m->why : state_text(state));
		dw_out_puts(out, "\n");
	}
}

/* A line for @n things, when there are any. @noun ends in "s" when it takes "es". */
static void print_count(struct dw_out *out, uint64_t n, const char *noun, const char *text)
{
	const char *ending = noun[strlen(noun) - 1] == 's' ? "es" : "s";

	if (n)
		dw_out_printf(out, "  %" PRIu64 " %s%s %s\n", n, noun, n == 1 ? "" : ending, text);
}

/* Processes and children that ran without clones, by cause. */
static void print_missed(struct dw_out *out, const struct dw_instrument_stats *s)
{
	const uint64_t *d = s->drops;
	uint64_t known = d[DWELL_DROP_CHILD_CLASS] + d[DWELL_DROP_CHILD_SETUID] +
			 d[DWELL_DROP_CHILD_STATIC] + d[DWELL_DROP_CHILD_FILTERED] +
			 d[DWELL_DROP_CHILD_APART];
	uint64_t others = d[DWELL_DROP_CHILDREN] > known ? d[DWELL_DROP_CHILDREN] - known : 0;
	const struct {
		uint64_t n;
		const char *noun, *text;
	} rows[] = {
		{d[DWELL_DROP_CHILD_CLASS], "child process",
		 "not instrumented: 32-bit, or for another processor"},
		{d[DWELL_DROP_CHILD_SETUID], "child process",
		 "not instrumented: setuid, setgid or with capabilities"},
		{d[DWELL_DROP_CHILD_STATIC], "child process",
		 "not instrumented: static, or another C library"},
		{d[DWELL_DROP_CHILD_APART], "child process",
		 "not instrumented: its parent had given up rights that it takes"},
		{d[DWELL_DROP_CHILD_FILTERED], "child process",
		 "not instrumented: under a system-call filter of the program's own"},
		{others, "child process", "not instrumented: other causes"},
		{s->off[DWELL_OFF_NO_MEMORY], "process", "not instrumented: no memory"},
		{s->off[DWELL_OFF_NO_EXECUTE], "process",
		 "not instrumented: executable memory is refused"},
		{s->off[DWELL_OFF_LIBC], "process", "not instrumented: another C library"},
		{s->off[DWELL_OFF_MISMATCH] + s->regions.refused_version, "process",
		 "not instrumented: its agent is of another version than dwell"},
		{s->regions.refused_limit, "process", "not instrumented: too many at a time"},
		{s->images_refused, "module", "not instrumented: the file cannot be read"},
		{d[DWELL_DROP_MODULES], "module", "not instrumented: too many in one process"},
		{s->regions.refused_kind + s->regions.refused_format, "file",
		 "in the session's folder that no agent made"},
		{d[DWELL_DROP_WRITTEN], "function", "put back: the code was made writable"},
		{d[DWELL_DROP_HANDLERS], "signal handler",
		 "that may see addresses of clones: too many in one process"},
		{d[DWELL_DROP_COUNTS], "call", "not counted"},
	};

	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
		print_count(out, rows[i].n, rows[i].noun, rows[i].text);
}

static void print_processes(struct dw_out *out, const struct dw_instrument_stats *s)
{
	dw_out_printf(out, "dwell: %" PRIu64 " of %" PRIu64 " process%s instrumented\n",
		      s->instrumented, s->processes, s->processes == 1 ? "" : "es");
	if (!s->processes)
		dw_out_puts(out, "  no agent made itself known: the command ran as it is\n");
}

void dw_instrumented_summary(struct dw_out *out, const struct dw_instrument_result *r,
			     bool has_session)
{
	const struct dw_instrument_stats *s = &r->stats;
	size_t n;
	struct dw_module_image *const *images = dw_images_all(r->images, &n);

	if (!has_session || !s->processes || s->instrumented != s->processes)
		print_processes(out, s);
	for (size_t i = 0; i < n; i++) {
		if (!has_session && (images[i]->processes[DWELL_MODULE_CLONED] ||
				     images[i]->processes[DWELL_MODULE_CLOSED]))
			print_module(out, images[i]);
		print_failures(out, images[i]);
	}
	print_missed(out, s);
}

/* One function that was called. */
struct called {
	uint64_t calls;
	uint32_t image;
	uint32_t function;
};

static int compare_calls(const void *pa, const void *pb)
{
	const struct called *a = pa, *b = pb;
	int rc = (a->calls < b->calls) - (a->calls > b->calls);

	if (!rc)
		rc = (a->image > b->image) - (a->image < b->image);
	return rc ? rc : (a->function > b->function) - (a->function < b->function);
}

static void put_call(struct dw_out *out, const struct called *c, const struct dw_module_image *m,
		     const struct dw_function_names *names)
{
	const char *name = dw_function_names_get(names, c->function);

	dw_out_printf(out, "%" PRIu64 ",", c->calls);
	dw_format_csv_field(out, name ? name : "");
	dw_out_puts(out, ",");
	dw_format_csv_field(out, dw_module_image_file(m));
	dw_out_printf(out, ",0x%" PRIx64 "\r\n", m->start + m->functions[c->function].start);
}

int dw_instrumented_calls(struct dw_out *out, const struct dw_instrument_result *r,
			  struct dw_error *err)
{
	size_t n;
	struct dw_module_image *const *images = dw_images_all(r->images, &n);
	struct dw_function_names *names = calloc(n + 1, sizeof *names);
	DW_VEC(struct called) rows = {0};
	int rc = names ? 0 : -ENOMEM;

	for (uint32_t i = 0; i < n && !rc; i++) {
		const struct dw_module_image *m = images[i];

		if (!m->calls)
			continue;
		rc = dw_module_image_names(m, &names[i], err);
		for (uint32_t f = 0; f < m->header.functions.n && !rc; f++)
			if (m->calls[f])
				rc = dw_vec_push(&rows, (struct called){m->calls[f], i, f});
	}
	if (rows.n)
		qsort(rows.v, rows.n, sizeof *rows.v, compare_calls);
	dw_out_puts(out, dw_calls_titles);
	dw_vec_each(row, &rows)
		put_call(out, row, images[row->image], &names[row->image]);
	for (size_t i = 0; i < n && names; i++)
		dw_function_names_release(&names[i]);
	free(names);
	dw_vec_release(&rows);
	return rc;
}

/* A function of the list. */
struct listed {
	const struct dw_module_image *image;
	const struct dw_clone_function_entry *f;
	const char *name;
	const char *reason; /* "" = cloned */
};

static void put_table(struct dw_out *out, const struct listed *l)
{
	dw_out_printf(out, "%-8s %#12" PRIx64 " %8" PRIu32 "  ", *l->reason ? "as it is" : "cloned",
		      l->image->start + l->f->start, l->f->bytes);
	dw_text_put(out, l->name);
	dw_out_printf(out, "%s%s%s\n", *l->reason ? " (" : "", l->reason, *l->reason ? ")" : "");
}

static void put_csv(struct dw_out *out, const struct listed *l)
{
	dw_format_csv_field(out, l->name);
	dw_out_puts(out, ",");
	dw_format_csv_field(out, dw_module_image_file(l->image));
	dw_out_printf(out, ",0x%" PRIx64 ",%" PRIu32 ",%s,%s,", l->image->start + l->f->start,
		      l->f->bytes, *l->reason ? "no" : "yes",
		      l->f->flags & DWELL_CLONE_PROBED ? "yes" : "no");
	dw_format_csv_field(out, l->reason);
	dw_out_puts(out, "\r\n");
}

static void put_json(struct dw_out *out, const struct listed *l)
{
	dw_out_puts(out, "    {\"function\": ");
	dw_format_json_string(out, l->name);
	dw_out_puts(out, ", \"module\": ");
	dw_format_json_string(out, dw_module_image_file(l->image));
	dw_out_printf(out, ", \"address\": \"0x%" PRIx64 "\", \"bytes\": %" PRIu32,
		      l->image->start + l->f->start, l->f->bytes);
	dw_out_printf(out, ", \"cloned\": %s, \"probed\": %s, \"reason\": ",
		      *l->reason ? "false" : "true",
		      l->f->flags & DWELL_CLONE_PROBED ? "true" : "false");
	dw_format_json_string(out, l->reason);
	dw_out_puts(out, "}");
}

static int list_module(struct dw_out *out, const struct dw_module_image *m,
		       enum dw_list_format format, bool is_first, struct dw_error *err)
{
	struct dw_function_names names = {0};
	int rc = dw_module_image_names(m, &names, err);
	struct counts t;

	count(m, &t);
	if (format == DWELL_LIST_TABLE && !rc) {
		dw_out_puts(out, is_first ? "" : "\n");
		dw_text_put(out, m->path);
		dw_out_printf(out, ": %" PRIu64 " of %" PRIu64 " functions would be cloned\n",
			      t.cloned, t.all);
	}
	for (uint32_t i = 0; i < m->header.functions.n && !rc; i++) {
		const char *name = dw_function_names_get(&names, i);
		uint8_t reason = m->functions[i].reason;
		struct listed l = {m, &m->functions[i], name ? name : "",
				   reason ? dw_clone_reason_text(reason) : ""};

		if (format == DWELL_LIST_JSON)
			dw_out_puts(out, is_first && !i ? "\n" : ",\n");
		format == DWELL_LIST_JSON  ? put_json(out, &l)
		: format == DWELL_LIST_CSV ? put_csv(out, &l)
					   : put_table(out, &l);
	}
	dw_function_names_release(&names);
	return rc;
}

int dw_list_functions(struct dw_out *out, struct dw_module_image *const *images, size_t n,
		      enum dw_list_format format, struct dw_error *err)
{
	bool is_first = true;
	int rc = 0;

	if (format == DWELL_LIST_CSV)
		dw_out_puts(out, "function,module,address,bytes,cloned,probed,reason\r\n");
	if (format == DWELL_LIST_JSON)
		dw_out_puts(out, "{\n  \"rows\": [");
	for (size_t i = 0; i < n && !rc; i++) {
		if (images[i]->state != DWELL_IMAGE_READY)
			continue;
		rc = list_module(out, images[i], format, is_first, err);
		is_first = false;
	}
	if (format == DWELL_LIST_JSON)
		dw_out_puts(out, is_first ? "]\n}\n" : "\n  ]\n}\n");
	return rc;
}
