/*
 * Facts of several sessions as those of one; see join.h. The rule of each is in a table.
 *
 * What a fact is not known to mean stays if all sessions agree in it, and else is left out.
 */
#include "merge/join.h"

#include "base/buf.h"
#include "base/cleanup.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum rule {
	RULE_EQUAL, /* left out unless all have the same */
	RULE_SUM,   /* 0 where it is missing */
	RULE_ALL,   /* the sum if all have it, else it is left out */
	RULE_MOST,
	RULE_LEAST,    /* 0 where it is missing */
	RULE_LIST,     /* texts, each once, with commas */
	RULE_COMMANDS, /* likewise, with ", " */
	RULE_BITS,     /* those of all */
	RULE_OURS,     /* told by what follows, or of the whole */
};

enum { LIST_MAX_BYTES = 4096 };

static const struct {
	const char *key;
	enum rule rule;
} rules[] = {
	{"command", RULE_COMMANDS},
	{"imported", RULE_COMMANDS},
	{"attached", RULE_LIST},
	{"events_left_out", RULE_LIST},
	{"modules_chosen", RULE_LIST},
	{"modules_chosen_for", RULE_LIST},
	{"runtime_version", RULE_LIST},
	{"dwell_version", RULE_LIST},
	{"host", RULE_EQUAL},
	{"kernel", RULE_EQUAL},
	{"boot", RULE_EQUAL},
	{"kernel_place", RULE_EQUAL},
	{"clock", RULE_EQUAL},
	{"road_why", RULE_EQUAL},
	{"debuginfod", RULE_EQUAL},
	{"overhead_limit_percent", RULE_EQUAL},
	{"measures_beside", RULE_BITS},
	{"frames", RULE_OURS},
	{"frames_named", RULE_OURS},
	{"frames_with_lines", RULE_OURS},
	{"code_bytes", RULE_OURS},
	{"source_files", RULE_OURS},
	{"merged", RULE_OURS},
	{"duration_ns", RULE_OURS},
	{"os_source", RULE_OURS},
	{"switches_unseen_in", RULE_OURS},
	{"start_realtime_ns", RULE_LEAST},
	{"system_calls_seen", RULE_LEAST},
	{"switched_off_counts", RULE_LEAST},
	{"announces_all", RULE_LEAST},
	{"user_cpu_ns", RULE_ALL},
	{"kernel_cpu_ns", RULE_ALL},
	{"processes_cpu_ns", RULE_ALL},
	{"residual_ns", RULE_ALL},
	{"threads_lifetime_ns", RULE_ALL},
	{"residual_elapsed_ns", RULE_ALL},
	{"bytes_counted_by_runtime", RULE_ALL},
	{"wait_status", RULE_MOST},
	{"system_wide", RULE_MOST},
	{"import_cut", RULE_MOST},
	{"stack_bytes", RULE_MOST},
	{"stack_bytes_max", RULE_MOST},
	{"ring_bytes", RULE_MOST},
	{"cpus", RULE_MOST},
	{"modules_failed", RULE_MOST},
	{"debuginfod_modules", RULE_MOST},
	{"debuginfod_found", RULE_MOST},
	{"debuginfod_wrong", RULE_MOST},
	{"debuginfod_failed", RULE_MOST},
	{"debuginfod_late", RULE_MOST},
	{"code_ranges_left_out", RULE_MOST},
	{"source_files_left_out", RULE_MOST},
	{"methods_instrumented", RULE_MOST},
	{"methods_short", RULE_MOST},
	{"methods_left_alone", RULE_MOST},
	{"modules_not_instrumented", RULE_MOST},
	{"modules_without_lines", RULE_MOST},
	{"functions_instrumented", RULE_MOST},
	{"functions_short", RULE_MOST},
	{"functions_left_alone", RULE_MOST},
	{"statements_instrumented", RULE_MOST},
	{"statements_left_alone", RULE_MOST},
	{"system_calls_without_probe", RULE_MOST},
	{"tree_bytes_max", RULE_MOST},
	{"probes_function_ps", RULE_MOST},
	{"probes_outside_ps", RULE_MOST},
	{"probes_pass_ps", RULE_MOST},
	{"frozen_bytes", RULE_SUM},
	{"attach_unsettled", RULE_SUM},
	{"samples_kept", RULE_SUM},
	{"samples_lost", RULE_SUM},
	{"samples_discarded", RULE_SUM},
	{"samples_discarded_32bit", RULE_SUM},
	{"stacks_cut", RULE_SUM},
	{"records_lost", RULE_SUM},
	{"throttled", RULE_SUM},
	{"threads_unsampled", RULE_SUM},
	{"children_unsampled", RULE_SUM},
	{"python_samples", RULE_SUM},
	{"python_unread", RULE_SUM},
	{"python_unknown", RULE_SUM},
	{"php_samples", RULE_SUM},
	{"php_unread", RULE_SUM},
	{"php_unknown", RULE_SUM},
	{"ruby_samples", RULE_SUM},
	{"ruby_unread", RULE_SUM},
	{"ruby_unknown", RULE_SUM},
	{"left_alone_signal", RULE_SUM},
	{"left_alone_filter", RULE_SUM},
	{"left_alone_timer", RULE_SUM},
	{"left_alone_traced", RULE_SUM},
	{"runtimes", RULE_SUM},
	{"managed_code_lost", RULE_SUM},
	{"java_runtimes", RULE_SUM},
	{"agent_start_ns", RULE_SUM},
	{"processes_instrumented", RULE_SUM},
	{"processes_not_instrumented", RULE_SUM},
	{"processes_left_out", RULE_SUM},
	{"functions_switched_off", RULE_SUM},
	{"functions_switched_off_before", RULE_SUM},
	{"calls_only_counted", RULE_SUM},
	{"counters_dropped", RULE_SUM},
	{"callees_switched_off_in_part", RULE_SUM},
	{"switching_off_pending", RULE_SUM},
	{"calls_truncated", RULE_SUM},
	{"calls_without_caller", RULE_SUM},
	{"paths_drawn", RULE_SUM},
	{"paths_not_drawn", RULE_SUM},
	{"callees_without_extremes", RULE_SUM},
	{"file_io_calls_lost", RULE_SUM},
	{"threads_dropped", RULE_SUM},
	{"threads_filtered", RULE_SUM},
	{"events_dropped", RULE_SUM},
	{"events_blind", RULE_SUM},
	{"nodes_dropped", RULE_SUM},
	{"calls_dropped", RULE_SUM},
	{"call_nodes", RULE_SUM},
	{"collected_at_end", RULE_SUM},
	{"objects_lost", RULE_SUM},
	{"objects_without_stack", RULE_SUM},
	{"objects_folded", RULE_SUM},
	{"objects_beyond", RULE_SUM},
	{"objects_untracked", RULE_SUM},
	{"objects_sampled", RULE_SUM},
	{"bytes_announced", RULE_SUM},
	{"labels_checked", RULE_SUM},
	{"labels_different", RULE_SUM},
	{"heap_objects", RULE_SUM},
	{"heap_unannounced", RULE_SUM},
	{"heap_stale", RULE_SUM},
	{"stacks_checked", RULE_SUM},
	{"stacks_different", RULE_SUM},
	{"stack_snapshots", RULE_SUM},
	{"stack_nodes", RULE_SUM},
	{"rows_dropped", RULE_SUM},
	{"tree_lookups", RULE_SUM},
	{"stack_repairs", RULE_SUM},
	{"stacks", RULE_SUM},
	{"probes_samples", RULE_SUM},
	{"probes_looped_ns", RULE_SUM},
	{"probes_found_ns", RULE_SUM},
	{"slow_path_ns", RULE_SUM},
	{"overhead_uncovered_ns", RULE_SUM},
	{"waits_stacks_whole", RULE_SUM},
	{"waits_stacks_cut", RULE_SUM},
	{"waits_stacks_refused", RULE_SUM},
	{"waits_unseen_ns", RULE_SUM},
	{"waits_python_read", RULE_SUM},
	{"waits_python_unread", RULE_SUM},
	{"waits_php_read", RULE_SUM},
	{"waits_php_unread", RULE_SUM},
	{"waits_ruby_read", RULE_SUM},
	{"waits_ruby_unread", RULE_SUM},
};

/* What sums would mean nothing without, and how it is called. */
static const struct {
	const char *key, *words;
} conditions[] = {
	{"method", "recorded by"},
	{"event", "sampled by the event"},
	{"frequency_hz", "sampled at a frequency (Hz) of"},
	{"period", "sampled with a period of"},
	{"road", "sampled by"},
	{"kernel_sampled", "sampled with kernel_sampled"},
	{"off_cpu", "recorded with waits by"},
	{"has_lifetime", "recorded with has_lifetime"},
	{"has_stacks", "recorded with has_stacks"},
	{"sample_bytes", "recorded with objects drawn one in so many bytes:"},
};

static enum rule rule_of(const char *key)
{
	for (size_t i = 0; i < sizeof rules / sizeof *rules; i++)
		if (!strcmp(rules[i].key, key))
			return rules[i].rule;
	return RULE_EQUAL;
}

static const struct dw_fact *find(const struct dw_facts *t, const char *key)
{
	dw_vec_each(row, &t->rows)
		if (!strcmp(row->key, key))
			return row;
	return NULL;
}

static bool is_equal(const struct dw_fact *a, const struct dw_fact *b)
{
	if (!a || !b)
		return a == b;
	if (!a->text != !b->text)
		return false;
	return a->text ? !strcmp(a->text, b->text) : a->integer == b->integer;
}

static int set(struct dw_facts *to, const struct dw_fact *f)
{
	return f->text ? dw_facts_set_text(to, f->key, f->text)
		       : dw_facts_set(to, f->key, f->integer);
}

/* Whether @list, divided by @comma, has @item. */
static bool has_item(const char *list, const char *item, const char *comma)
{
	size_t n = strlen(item), step = strlen(comma);

	for (const char *at = list; (at = strstr(at, item)); at++)
		if ((at == list || (at >= list + step && !strncmp(at - step, comma, step))) &&
		    (!at[n] || !strncmp(at + n, comma, step)))
			return true;
	return false;
}

/* @a with @b behind it, unless that is in it. */
static int set_list(struct dw_facts *to, const struct dw_fact *a, const struct dw_fact *b,
		    const char *comma)
{
	dw_auto(dw_buf) list = DW_BUF_INIT;

	if (!a || !b || !a->text || !b->text)
		return set(to, a ? a : b);
	dw_buf_puts(&list, a->text);
	if (!has_item(a->text, b->text, comma) &&
	    list.len + strlen(b->text) + strlen(comma) <= LIST_MAX_BYTES)
		dw_buf_printf(&list, "%s%s", comma, b->text);
	return list.failed ? -ENOMEM : dw_facts_set_text(to, a->key, dw_buf_str(&list));
}

static int64_t sum(int64_t a, int64_t b)
{
	int64_t n;

	return __builtin_add_overflow(a, b, &n) ? a < 0 ? INT64_MIN : INT64_MAX : n;
}

/* The fact that @a, of those before, and @b become; one of them may be NULL. */
static int join_fact(struct dw_facts *to, const struct dw_fact *a, const struct dw_fact *b)
{
	const struct dw_fact *any = a ? a : b;
	int64_t x = a ? a->integer : 0, y = b ? b->integer : 0;

	switch (rule_of(any->key)) {
	case RULE_EQUAL:
		return is_equal(a, b) ? set(to, any) : 0;
	case RULE_SUM:
		return dw_facts_set(to, any->key, sum(x, y));
	case RULE_ALL:
		return a && b ? dw_facts_set(to, any->key, sum(x, y)) : 0;
	case RULE_MOST:
		return a && b ? dw_facts_set(to, any->key, x > y ? x : y) : set(to, any);
	case RULE_LEAST:
		return dw_facts_set(to, any->key, x < y ? x : y);
	case RULE_LIST:
		return set_list(to, a, b, ",");
	case RULE_COMMANDS:
		return set_list(to, a, b, ", ");
	case RULE_BITS:
		return dw_facts_set(to, any->key, x | y);
	case RULE_OURS:
		break;
	}
	return 0;
}

static bool is_blind(const char *source)
{
	return source && !strcmp(source, "none");
}

/* Put the processes of @p whose switches were not all seen behind @ids, @first more each. Of them
 * all, where no switch was seen. */
static void put_unseen(struct dw_buf *ids, const struct dw_profile *p, uint32_t first, bool all)
{
	const char *at = dw_facts_get_text(&p->facts, "switches_unseen_in");
	uint32_t n = dw_processes_count(&p->processes);

	for (uint32_t id = 1; id <= n && all; id++)
		dw_buf_printf(ids, "%s%" PRIu32, ids->len ? "," : "", id + first);
	for (char *end; at && *at && !all; at = *end ? end + 1 : end) {
		unsigned long id = strtoul(at, &end, 10);

		if (id && id <= n)
			dw_buf_printf(ids, "%s%lu", ids->len ? "," : "", id + first);
	}
}

/*
 * How switches were seen. Where they were not seen in some sessions alone, the processes of these
 * are told.
 * @n  processes of those before.
 */
static int join_switches(struct dw_facts *to, const struct dw_profile *before, uint32_t n,
			 const struct dw_profile *from)
{
	const struct dw_fact *a = find(&before->facts, "os_source"),
			     *b = find(&from->facts, "os_source");
	const char *listed = dw_facts_get_text(&before->facts, "switches_unseen_in");
	bool blind_a = a && is_blind(a->text), blind_b = b && is_blind(b->text);
	dw_auto(dw_buf) ids = DW_BUF_INIT;
	int rc = 0;

	if (a && b && blind_a != blind_b)
		rc = set(to, blind_a ? b : a);
	else if (a && b)
		rc = set_list(to, a, b, ",");
	else if (a || b)
		rc = set(to, a ? a : b);
	if (blind_a && blind_b)
		return rc;
	for (uint32_t id = 1; id <= n && blind_a; id++)
		dw_buf_printf(&ids, "%s%" PRIu32, ids.len ? "," : "", id);
	if (listed && !blind_a)
		dw_buf_puts(&ids, listed);
	put_unseen(&ids, from, n, blind_b);
	if (ids.failed)
		return -ENOMEM;
	return rc || !ids.len ? rc : dw_facts_set_text(to, "switches_unseen_in", dw_buf_str(&ids));
}

static void put_fact(const struct dw_fact *f, struct dw_buf *to)
{
	if (!f)
		dw_buf_puts(to, "nothing told");
	else if (f->text)
		dw_buf_puts(to, f->text);
	else
		dw_buf_printf(to, "%" PRId64, f->integer);
}

/* Whether the sessions go together. */
static int check(const struct dw_join *j, const char *path, const char *first, struct dw_error *err)
{
	for (size_t i = 0; i < sizeof conditions / sizeof *conditions; i++) {
		const struct dw_fact *a = find(&j->to->profile.facts, conditions[i].key),
				     *b = find(&j->from->facts, conditions[i].key);
		dw_auto(dw_buf) x = DW_BUF_INIT;
		dw_auto(dw_buf) y = DW_BUF_INIT;

		if (is_equal(a, b))
			continue;
		put_fact(a, &x);
		put_fact(b, &y);
		return dw_error_set(err, DWELL_ERR_UNSUPPORTED,
				    "%s does not go with %s: it was %s %s, the other %s", path,
				    first, conditions[i].words, dw_buf_str(&y), dw_buf_str(&x));
	}
	return 0;
}

static int join_all(struct dw_join *j, struct dw_facts *to)
{
	const struct dw_facts *before = &j->to->profile.facts, *from = &j->from->facts;
	int rc = 0;

	dw_vec_each(f, &before->rows)
		rc = rc ? rc : join_fact(to, f, find(from, f->key));
	dw_vec_each(f, &from->rows)
		if (!rc && !find(before, f->key))
			rc = join_fact(to, NULL, f);
	return rc ? rc : join_switches(to, &j->to->profile, j->processes, j->from);
}

int dw_join_facts(struct dw_join *j, const char *path, const char *first, struct dw_error *err)
{
	int64_t duration = dw_facts_get(&j->from->facts, "duration_ns", 0);
	int64_t sessions = dw_facts_get(&j->from->facts, "merged", 1);
	struct dw_facts joined = {0}, *to = &j->to->profile.facts;
	bool is_first = !j->to->sessions;
	int rc = 0;

	if (!is_first) {
		rc = check(j, path, first, err);
		if (rc)
			return rc;
		rc = join_all(j, &joined);
	} else {
		dw_vec_each(f, &j->from->facts.rows)
			rc = rc ? rc : set(&joined, f);
	}
	j->to->sessions += sessions > 0 && sessions < UINT16_MAX ? (uint32_t)sessions : 1;
	if (!rc && j->to->sessions > 1)
		rc = dw_facts_set(&joined, "merged", j->to->sessions);
	if (!rc && !is_first)
		rc = dw_facts_set(&joined, "duration_ns",
				  (int64_t)j->shift_ns +
					  (duration > 0 && (uint64_t)duration < j->span_ns
						   ? duration
						   : (int64_t)j->span_ns));
	dw_facts_release(rc ? &joined : to);
	if (rc)
		return dw_error_set(err, rc, "no memory to merge sessions");
	*to = joined;
	return 0;
}
