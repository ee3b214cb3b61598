/*
 * Importing perf.data; see import.h. Decoding is in decode.c, the rest is what all samplers
 * share (collect/samples).
 */
#include "collect/import/import.h"

#include "base/buf.h"
#include "base/cleanup.h"
#include "collect/import/decode.h"
#include "collect/import/find-files.h"
#include "collect/import/order.h"
#include "collect/samples/dispatcher.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

enum { SOME_RECORDS = 1 << 16, KERNEL_PID = -1, NS_PER_S = 1000000000 };

static const char kernel_path[] = "[kernel.kallsyms]";
static const char word_letters[] =
	"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_";

struct dw_import {
	struct dw_profile *profile; /* borrowed */
	struct dw_perf_file file;
	struct dw_import_order order;
	struct dw_import_files files;
	struct dw_dispatcher dispatcher;
	struct dw_import_record record;
	const struct dw_perf_event *event; /* to be taken; NULL = all */
	char kernel_symbol[64]; /* where the kernel lay: this one was at kernel_at; "" = not told */
	uint64_t kernel_at;
	uint64_t last_ns;
	uint64_t malformed;
	bool *left_out; /* by event: it had samples */
	struct dw_buf left_out_names;
};

static const char *event_name(const struct dw_perf_event *e)
{
	return e->name ? e->name : "an event without a name";
}

/* Choose the event called @name. */
static int choose_event(struct dw_import *i, const char *name, struct dw_error *err)
{
	dw_auto(dw_buf) list = DW_BUF_INIT;

	if (name && !strcmp(name, "all"))
		return 0;
	dw_vec_each(e, &i->file.events) {
		bool helps =
			e->attr.type == PERF_TYPE_SOFTWARE && e->attr.config == PERF_COUNT_SW_DUMMY;

		if (name ? e->name && !strcmp(e->name, name) : !helps) {
			i->event = e;
			return 0;
		}
		dw_buf_printf(&list, " %s", event_name(e));
	}
	if (!name)
		return 0;
	return dw_error_set(err, DWELL_ERR_NOT_FOUND, "no event '%s'; there are%s", name,
			    dw_buf_str(&list));
}

/* How many samples a second of processor time were asked for, 0 = not by time. */
static uint64_t frequency(const struct dw_perf_event *e)
{
	bool is_clock =
		e->attr.type == PERF_TYPE_SOFTWARE && (e->attr.config == PERF_COUNT_SW_CPU_CLOCK ||
						       e->attr.config == PERF_COUNT_SW_TASK_CLOCK);

	if (e->attr.freq)
		return e->attr.sample_freq;
	return is_clock && e->attr.sample_period ? NS_PER_S / e->attr.sample_period : 0;
}

static int note_text(struct dw_facts *facts, const char *key, const char *text)
{
	return text ? dw_facts_set_text(facts, key, text) : 0;
}

static int note_facts(struct dw_import *i, const char *path)
{
	struct dw_facts *f = &i->profile->facts;
	const struct dw_perf_event *e = i->event ? i->event : i->file.events.v;
	uint64_t hz = frequency(e);
	int rc = dw_facts_set_text(f, "method", "sampling");

	if (!rc)
		rc = dw_facts_set_text(f, "imported", path);
	if (!rc)
		rc = dw_facts_set_text(f, "command", dw_buf_str(&i->file.command));
	if (!rc)
		rc = note_text(f, "host", i->file.host);
	if (!rc)
		rc = note_text(f, "kernel", i->file.release);
	if (!rc)
		rc = dw_facts_set_text(f, "dwell_version", DWELL_VERSION);
	if (!rc)
		rc = dw_facts_set_text(f, "event", i->event ? event_name(e) : "all");
	if (!rc && hz)
		rc = dw_facts_set(f, "frequency_hz", (int64_t)hz);
	if (!rc && e->attr.sample_stack_user)
		rc = dw_facts_set(f, "stack_bytes", e->attr.sample_stack_user);
	return rc;
}

static int open_file(struct dw_import *i, const struct dw_import_config *config,
		     struct dw_error *err)
{
	int rc = dw_perf_file_open(&i->file, config->path, err);

	if (!rc)
		rc = choose_event(i, config->event, err);
	if (rc)
		return rc;
	i->order.file = i->files.file = &i->file;
	i->files.cache_dir = config->cache_dir;
	i->files.home = config->home;
	i->left_out = calloc(i->file.events.n, sizeof *i->left_out);
	rc = i->left_out ? dw_import_files_init(&i->files) : -ENOMEM;
	return rc ? rc : note_facts(i, config->path);
}

int dw_import_open(const struct dw_import_config *config, struct dw_profile *profile,
		   struct dw_import **ret, struct dw_error *err)
{
	struct dw_import *i = calloc(1, sizeof *i);
	int rc;

	if (!i)
		return dw_error_set_errno(err, ENOMEM, "cannot import");
	i->profile = profile;
	i->file.fd = -1;
	dw_dispatcher_init(&i->dispatcher, profile, config->cache_dir, true);
	i->dispatcher.modules.find = config->without_files ? NULL : dw_import_files_find;
	i->dispatcher.modules.find_ctx = &i->files;
	i->files.mapping = &i->record.mapping;
	rc = open_file(i, config, err);
	if (rc) {
		dw_import_free(i);
		return err && err->code ? rc : dw_error_set_errno(err, -rc, "cannot import");
	}
	*ret = i;
	return 0;
}

/* Whether the sample's event counts. */
static bool is_chosen(struct dw_import *i)
{
	const struct dw_perf_event *e = i->record.event;

	if (!i->event || e == i->event)
		return true;
	i->left_out[e - i->file.events.v] = true;
	return false;
}

/* A file is known by device and inode; where they are not told, by its name: the name's number in
 * a generation that no file has. */
static int identify_file(struct dw_import *i, struct dw_perf_mapping *m)
{
	uint32_t name;
	int rc;

	if (m->inode || m->path[0] != '/' || !strcmp(m->path, "//anon"))
		return 0;
	rc = dw_strings_adds(&i->profile->strings, m->path, &name);
	if (rc)
		return rc;
	m->inode = name;
	m->generation = UINT64_MAX;
	return 0;
}

/* The kernel's mapping is called after a symbol, which lay at the mapping's offset. */
static void note_kernel(struct dw_import *i, const struct dw_perf_mapping *m)
{
	const char *symbol = m->path + sizeof kernel_path - 1;
	size_t n = strlen(m->path);

	if (i->kernel_symbol[0] || n < sizeof kernel_path ||
	    strncmp(m->path, kernel_path, sizeof kernel_path - 1) != 0)
		return;
	n -= sizeof kernel_path - 1;
	if (n >= sizeof i->kernel_symbol || strspn(symbol, word_letters) != n)
		return;
	memcpy(i->kernel_symbol, symbol, n + 1);
	i->kernel_at = m->offset;
}

/* Which kernel it was, and where it lay. */
static int note_kernel_place(struct dw_import *i)
{
	dw_auto(dw_buf) place = DW_BUF_INIT;

	dw_vec_each(row, &i->file.build_ids) {
		if (place.len || !i->kernel_symbol[0] || strcmp(row->path, kernel_path) != 0)
			continue;
		for (size_t k = 0; k < row->bytes; k++)
			dw_buf_printf(&place, "%02x", row->id[k]);
		dw_buf_printf(&place, " %s %" PRIx64, i->kernel_symbol, i->kernel_at);
	}
	if (place.failed)
		return -ENOMEM;
	return place.len ? dw_facts_set_text(&i->profile->facts, "kernel_place", dw_buf_str(&place))
			 : 0;
}

static int take(struct dw_import *i, const void *p, size_t n)
{
	struct dw_perf_record *r = &i->record.r;
	int rc = dw_import_decode(&i->file, p, n, &i->record);

	if (rc) {
		i->malformed += rc == DWELL_ERR_FORMAT;
		return 0;
	}
	if (r->type == PERF_RECORD_MMAP2) {
		if (r->pid == KERNEL_PID)
			note_kernel(i, &r->mapping);
		if (i->record.is_data || r->pid == KERNEL_PID)
			return 0;
		rc = identify_file(i, &r->mapping);
		if (rc)
			return rc;
	}
	if (r->type == PERF_RECORD_SAMPLE && !is_chosen(i))
		return 0;
	if (r->time_ns && !i->dispatcher.track.start_ns)
		i->dispatcher.track.start_ns = r->time_ns;
	if (r->time_ns > i->last_ns)
		i->last_ns = r->time_ns;
	return dw_dispatcher_take(&i->dispatcher, r, false);
}

int dw_import_some(struct dw_import *i, bool *more)
{
	const void *p;
	size_t n = 1;
	int rc = 0;

	for (unsigned k = 0; k < SOME_RECORDS && n && !rc; k++) {
		rc = dw_import_next(&i->order, &p, &n);
		if (!rc && n)
			rc = take(i, p, n);
	}
	*more = n;
	return rc;
}

int dw_import_end(struct dw_import *i)
{
	struct dw_facts *f = &i->profile->facts;
	uint64_t start_ns = i->dispatcher.track.start_ns;
	int rc = dw_facts_set(f, "duration_ns", (int64_t)(i->last_ns - start_ns));

	if (!rc)
		rc = note_kernel_place(i);
	for (size_t k = 0; k < i->file.events.n; k++)
		if (i->left_out[k])
			dw_buf_printf(&i->left_out_names, "%s%s", i->left_out_names.len ? " " : "",
				      event_name(&i->file.events.v[k]));
	if (!rc && i->left_out_names.len)
		rc = dw_facts_set_text(f, "events_left_out", dw_buf_str(&i->left_out_names));
	if (!rc && i->order.is_cut)
		rc = dw_facts_set(f, "import_cut", 1);
	if (!rc)
		rc = dw_facts_set(f, "samples_discarded_32bit",
				  (int64_t)i->dispatcher.unwinder.discarded_32);
	return rc;
}

void dw_import_stats(const struct dw_import *i, struct dw_backend_stats *ret)
{
	const struct dw_dispatcher *in = &i->dispatcher;

	*ret = (struct dw_backend_stats){
		.samples_kept = in->unwinder.kept,
		.samples_lost = in->lost_samples,
		.samples_discarded = in->unwinder.discarded,
		.stacks_cut = in->unwinder.cut,
		.records_lost = i->malformed,
		.throttled = in->throttled,
	};
}

const char *dw_import_left_out(const struct dw_import *i)
{
	return dw_buf_str(&i->left_out_names);
}

const struct dw_module_source *dw_import_sources(struct dw_import *i, size_t *n)
{
	return dw_perf_modules_sources(&i->dispatcher.modules, n);
}

void dw_import_free(struct dw_import *i)
{
	if (!i)
		return;
	dw_dispatcher_release(&i->dispatcher);
	dw_import_order_release(&i->order);
	dw_import_files_release(&i->files);
	dw_perf_file_release(&i->file);
	dw_buf_release(&i->left_out_names);
	free(i->left_out);
	free(i);
}
