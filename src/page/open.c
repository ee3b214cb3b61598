/* What there is in a session: its views with their columns, processes and threads, modules. */
#include "format/table-cell.h"
#include "model/measure.h"
#include "page/page-internal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { NS_PER_MS = 1000000 };

static const char *string(const struct dw_page *page, uint32_t id)
{
	return dw_strings_get(&page->profile.strings, id);
}

static void put_member(struct dw_out *out, const char *key, const char *text)
{
	dw_out_printf(out, "\"%s\": ", key);
	dw_format_json_string(out, text);
}

static bool is_bytes(enum dw_measure m)
{
	return m >= DWELL_MEASURE_BYTES && m <= DWELL_MEASURE_BYTES_MOST;
}

static const char *unit_of(enum dw_column column)
{
	const struct dw_column_info *info = dw_column_info(column);

	switch (info->kind) {
	case DWELL_CELL_TEXT:
		return "text";
	case DWELL_CELL_NUMBER:
		return "number";
	case DWELL_CELL_PERCENT:
		return "percent";
	case DWELL_CELL_TIME_NS:
		return "time";
	case DWELL_CELL_DURATION_NS:
	case DWELL_CELL_CALL_NS:
		return "ns";
	case DWELL_CELL_ADDRESS:
		return "address";
	default:
		break;
	}
	if (column == DWELL_COLUMN_HEAP_BEFORE || column == DWELL_COLUMN_HEAP_AFTER ||
	    column == DWELL_COLUMN_PROMOTED || column == DWELL_COLUMN_BYTES_READ ||
	    column == DWELL_COLUMN_BYTES_WRITTEN)
		return "bytes";
	return is_bytes(info->measure) ? "bytes" : "count";
}

/* What cells of @column are, more closely than by their unit. */
static const char *kind_of(enum dw_column column)
{
	static const char *const kinds[] = {
		[DWELL_CELL_EMPTY] = "text",	[DWELL_CELL_TEXT] = "text",
		[DWELL_CELL_COUNT] = "count",	[DWELL_CELL_CHANGE] = "change",
		[DWELL_CELL_NUMBER] = "number", [DWELL_CELL_PERCENT] = "percent",
		[DWELL_CELL_TIME_NS] = "time",	[DWELL_CELL_DURATION_NS] = "duration",
		[DWELL_CELL_CALL_NS] = "call",	[DWELL_CELL_ADDRESS] = "address",
	};

	return kinds[dw_column_info(column)->kind];
}

static bool has(const enum dw_column *list, enum dw_column column)
{
	while (*list && *list != column)
		list++;
	return *list;
}

static void put_columns(const struct dw_page *page, const struct dw_view_ops *view,
			struct dw_out *out)
{
	enum dw_column all[DWELL_COLUMNS_N], defaults[DWELL_COLUMNS_N];

	dw_view_columns(view, &page->profile, DWELL_BY_NONE, false, all);
	dw_view_columns(view, &page->profile, DWELL_BY_NONE, true, defaults);
	for (size_t i = 0; all[i]; i++) {
		const struct dw_column_info *info = dw_column_info(all[i]);
		char key[DWELL_KEY_MAX_BYTES];

		dw_column_key(all[i], key);
		dw_out_puts(out, i ? ", {" : "{");
		put_member(out, "id", key);
		dw_out_puts(out, ", ");
		put_member(out, "title", info->title);
		dw_out_puts(out, ", ");
		put_member(out, "header", info->header ? info->header : info->title);
		dw_out_printf(out,
			      ", \"unit\": \"%s\", \"is_default\": %s, \"is_measure\": %s, "
			      "\"is_amount\": %s, \"exclusive\": %s, \"kind\": \"%s\", "
			      "\"digits\": %d}",
			      unit_of(all[i]), has(defaults, all[i]) ? "true" : "false",
			      info->measure ? "true" : "false",
			      dw_column_is_amount(all[i]) ? "true" : "false",
			      info->exclusive ? "true" : "false", kind_of(all[i]),
			      (int)dw_table_digits(all[i], dw_sample_ns(&page->profile)));
	}
}

static void put_views(const struct dw_page *page, struct dw_out *out)
{
	static const char *const functions[] = {"never", "may", "must"};
	size_t n = 0;

	dw_out_puts(out, ", \"views\": [");
	for (const struct dw_view_ops *const *v = dw_views; *v; v++) {
		char sort[DWELL_KEY_MAX_BYTES] = "";
		enum dw_column column;

		if (!dw_view_suits(*v, &page->profile))
			continue;
		column = dw_view_sort(*v, &page->profile);
		if (column)
			dw_column_key(column, sort);
		dw_out_puts(out, n++ ? ", {" : "{");
		put_member(out, "name", (*v)->name);
		dw_out_puts(out, ", ");
		put_member(out, "title", (*v)->help);
		dw_out_printf(out,
			      ", \"is_tree\": %s, \"function\": \"%s\", \"sort\": \"%s\", "
			      "\"splits\": %s, \"columns\": [",
			      (*v)->tree ? "true" : "false", functions[(*v)->function], sort,
			      (*v)->splits ? "true" : "false");
		put_columns(page, *v, out);
		dw_out_puts(out, "]}");
	}
	dw_out_puts(out, "]");
}

/* Threads by their process: the first of each, and the next one of the same. */
struct thread_lists {
	uint32_t *first, *next;
};

static int list_threads(const struct dw_page *page, struct thread_lists *ret)
{
	const struct dw_threads *threads = &page->profile.threads;

	ret->first = calloc(dw_processes_count(&page->profile.processes) + 1ul, sizeof *ret->first);
	ret->next = calloc(dw_threads_count(threads) + 1ul, sizeof *ret->next);
	if (!ret->first || !ret->next)
		return -ENOMEM;
	for (uint32_t id = dw_threads_count(threads); id; id--) {
		uint32_t process = dw_threads_get(threads, id)->process;

		ret->next[id] = ret->first[process];
		ret->first[process] = id;
	}
	return 0;
}

static void put_threads(const struct dw_page *page, const struct thread_lists *lists,
			uint32_t process, struct dw_out *out)
{
	dw_out_puts(out, "\"threads\": [");
	for (uint32_t id = lists->first[process]; id; id = lists->next[id]) {
		const struct dw_thread *t = dw_threads_get(&page->profile.threads, id);

		dw_out_printf(out, "%s{\"id\": %d, \"unique_id\": %u, ",
			      id == lists->first[process] ? "" : ", ", t->tid, id);
		put_member(out, "name", string(page, t->name));
		dw_out_puts(out, "}");
	}
	dw_out_puts(out, "]");
}

static int put_processes(const struct dw_page *page, struct dw_out *out)
{
	const struct dw_processes *processes = &page->profile.processes;
	struct thread_lists lists = {0};
	int rc = list_threads(page, &lists);

	dw_out_puts(out, ", \"processes\": [");
	for (uint32_t id = 1; id <= dw_processes_count(processes) && !rc; id++) {
		const struct dw_process *p = dw_processes_get(processes, id);

		dw_out_printf(out, "%s{\"id\": %d, \"unique_id\": %u, ", id > 1 ? ", " : "", p->pid,
			      id);
		put_member(out, "name", string(page, p->name));
		dw_out_puts(out, ", ");
		put_member(out, "command_line", string(page, p->command_line));
		dw_out_puts(out, ", ");
		put_threads(page, &lists, id, out);
		dw_out_puts(out, "}");
	}
	dw_out_puts(out, "]");
	free(lists.first);
	free(lists.next);
	return rc;
}

static void put_modules(const struct dw_page *page, struct dw_out *out)
{
	const struct dw_modules *modules = &page->profile.modules;

	dw_out_puts(out, ", \"modules\": [");
	for (size_t id = 1; id < modules->rows.n; id++) {
		dw_page_comma(out, id - 1);
		dw_format_json_string(out, string(page, modules->rows.v[id].name));
	}
	dw_out_puts(out, "]");
}

/* Inclusive amounts of call trees: what adds up from callees to callers. */
static void put_measures(const struct dw_page *page, struct dw_out *out)
{
	enum dw_column all[DWELL_COLUMNS_N];
	char key[DWELL_KEY_MAX_BYTES];
	size_t n = 0;

	dw_view_columns(&dw_view_calltree, &page->profile, DWELL_BY_NONE, false, all);
	dw_out_puts(out, ", \"measures\": [");
	for (const enum dw_column *c = all; *c; c++) {
		if (!dw_page_is_width(*c))
			continue;
		dw_column_key(*c, key);
		dw_out_printf(out, "%s\"%s\"", n++ ? ", " : "", key);
	}
	dw_out_puts(out, "]");
}

bool dw_page_is_width(enum dw_column column)
{
	const struct dw_column_info *info = dw_column_info(column);

	return info->measure && info->measure != DWELL_MEASURE_CALLS && !info->exclusive &&
	       info->aspect == DWELL_ASPECT_TOTAL;
}

static const char *method_of(const struct dw_page *page)
{
	static const char *const methods[] = {[DWELL_METHOD_SAMPLING] = "sampling",
					      [DWELL_METHOD_INSTRUMENTATION] = "calls",
					      [DWELL_METHOD_MEMORY] = "allocations"};

	return methods[dw_profile_method(&page->profile)];
}

int dw_page_op_open(struct dw_page *page, const struct dw_page_request *r, struct dw_out *out,
		    struct dw_error *err)
{
	const struct dw_facts *facts = &page->profile.facts;
	const char *command = dw_facts_get_text(facts, "command");
	const char *event = dw_facts_get_text(facts, "event");

	(void)r;
	put_member(out, "title", page->source.name);
	dw_out_puts(out, ", ");
	put_member(out, "command", command ? command : "");
	dw_out_printf(out,
		      ", \"method\": [\"%s\"], \"recorded_at_ms\": %lld, \"duration_ns\": %llu",
		      method_of(page),
		      (long long)(dw_facts_get(facts, "start_realtime_ns", 0) / NS_PER_MS),
		      (unsigned long long)page->timeline.duration_ns);
	if (event) {
		dw_out_puts(out, ", ");
		put_member(out, "event", event);
	}
	put_views(page, out);
	if (put_processes(page, out))
		return dw_error_set(err, -ENOMEM, "out of memory");
	put_modules(page, out);
	put_measures(page, out);
	return 0;
}
