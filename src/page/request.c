/* Requests; see request.h. */
#include "page/request.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { ROWS_DEFAULT = 100, BUCKETS_DEFAULT = 200 };

#define MIN_SHARE_DEFAULT .0005

/* The texts of an array, or a single one. */
static int read_words(const struct dw_page_request *r, const struct dw_json_value *v,
		      struct dw_words *ret, struct dw_error *err)
{
	const char *text = dw_json_text(&r->json, v);
	uint32_t i = v && v->kind == DWELL_JSON_ARRAY ? v->first : 0;

	if (text && dw_vec_push(ret, text))
		return dw_error_set(err, -ENOMEM, "out of memory");
	for (; i; i = dw_json_at(&r->json, i)->next) {
		text = dw_json_text(&r->json, dw_json_at(&r->json, i));
		if (!text)
			return dw_error_set(err, DWELL_ERR_USAGE, "a filter takes texts");
		if (dw_vec_push(ret, text))
			return dw_error_set(err, -ENOMEM, "out of memory");
	}
	return 0;
}

static int read_waits(struct dw_page_request *r, const struct dw_json_value *v,
		      struct dw_error *err)
{
	struct dw_words words = {0};
	dw_wait_kinds counts = 0, more;
	int rc = read_words(r, v, &words, err);

	r->waits_left_out = DWELL_WAITS_FOLDED;
	for (size_t i = 0; i < words.n && !rc; i++) {
		if (dw_wait_kinds_read(words.v[i], &more))
			rc = dw_error_set(err, DWELL_ERR_USAGE, "unknown kind of waiting '%s'",
					  words.v[i]);
		else
			counts |= more;
	}
	if (!rc && v)
		r->waits_left_out = DWELL_WAITS_ALL & ~counts;
	dw_vec_release(&words);
	return rc;
}

/* A time in ns; pages work with fractions, too. */
static int read_time(const struct dw_page_request *r, const struct dw_json_value *v, uint64_t *ret,
		     struct dw_error *err)
{
	const char *text = v && v->kind == DWELL_JSON_NUMBER ? dw_json_text(&r->json, v) : NULL;
	double ns = text ? strtod(text, NULL) : 0;

	if (v && (!text || !(ns >= 0 && ns < 9e18)))
		return dw_error_set(err, DWELL_ERR_USAGE, "no time in ns");
	*ret = (uint64_t)ns;
	return 0;
}

static bool is_true(const struct dw_json_value *v)
{
	return v && v->kind == DWELL_JSON_TRUE;
}

static int read_lists(struct dw_page_request *r, const struct dw_json_value *filter,
		      struct dw_error *err)
{
	static const char *const keys[DWELL_FILTER_KINDS] = {
		[DWELL_FILTER_PROCESS] = "process",
		[DWELL_FILTER_THREAD] = "thread",
		[DWELL_FILTER_MODULE] = "module",
		[DWELL_FILTER_TYPE] = "type",
	};
	int rc = 0;

	for (enum dw_filter_kind kind = 0; kind < DWELL_FILTER_KINDS && !rc; kind++)
		rc = read_words(r, dw_json_get(&r->json, filter, keys[kind]), &r->lists[kind], err);
	return rc;
}

static int read_filter(struct dw_page_request *r, struct dw_error *err)
{
	const struct dw_json *j = &r->json;
	const struct dw_json_value *root = dw_json_root(j), *f = dw_json_get(j, root, "filter");
	const struct dw_json_value *all_code = dw_json_get(j, f, "all_code");
	const char *intervals = dw_json_text(j, dw_json_get(j, f, "intervals"));
	int rc = read_lists(r, f, err);

	rc = rc ? rc : read_waits(r, dw_json_get(j, f, "waits"), err);
	rc = rc ? rc : read_time(r, dw_json_get(j, f, "from"), &r->from_ns, err);
	rc = rc ? rc : read_time(r, dw_json_get(j, f, "until"), &r->until_ns, err);
	r->folds = all_code && all_code->kind == DWELL_JSON_FALSE;
	r->delimited_intervals = intervals && !strcmp(intervals, "probe");
	r->by = dw_json_text(j, dw_json_get(j, f, "by"));
	r->root = dw_json_text(j, dw_json_get(j, f, "root"));
	return rc;
}

/* A whole number, if it is there. */
static int read_number(const struct dw_page_request *r, const char *key, uint64_t *ret,
		       struct dw_error *err)
{
	const struct dw_json_value *v = dw_json_get(&r->json, dw_json_root(&r->json), key);

	if (v && !dw_json_whole(&r->json, v, ret))
		return dw_error_set(err, DWELL_ERR_USAGE, "%s takes a whole number", key);
	return 0;
}

static int read_numbers(struct dw_page_request *r, struct dw_error *err)
{
	const struct {
		const char *key;
		uint64_t *ret;
	} numbers[] = {{"from", &r->from},	 {"count", &r->count},
		       {"node", &r->node},	 {"root", &r->node}, /* of a flame graph */
		       {"buckets", &r->buckets}, {"function", &r->function}};
	int rc = 0;

	r->count = ROWS_DEFAULT;
	r->buckets = BUCKETS_DEFAULT;
	for (size_t i = 0; i < sizeof numbers / sizeof *numbers && !rc; i++)
		rc = read_number(r, numbers[i].key, numbers[i].ret, err);
	return rc;
}

static int read_share(const struct dw_page_request *r, double *ret, struct dw_error *err)
{
	const struct dw_json_value *v = dw_json_get(&r->json, dw_json_root(&r->json), "min_share");

	*ret = v && v->kind == DWELL_JSON_NUMBER ? strtod(dw_json_text(&r->json, v), NULL)
	       : v				 ? -1
						 : MIN_SHARE_DEFAULT;
	if (!(*ret >= 0 && *ret <= 1))
		return dw_error_set(err, DWELL_ERR_USAGE, "min_share is from 0 to 1");
	return 0;
}

static const char *read_text(const struct dw_page_request *r, const char *key)
{
	return dw_json_text(&r->json, dw_json_get(&r->json, dw_json_root(&r->json), key));
}

static int read_rest(struct dw_page_request *r, struct dw_error *err)
{
	const struct dw_json *j = &r->json;
	const struct dw_json_value *root = dw_json_root(j);
	const struct dw_json_value *descending = dw_json_get(j, root, "descending");
	int rc;

	r->op = read_text(r, "op");
	r->view = read_text(r, "view");
	r->name = read_text(r, "name");
	r->sort = read_text(r, "sort");
	r->search = read_text(r, "search");
	r->measure = read_text(r, "measure");
	r->order = read_text(r, "order");
	r->kind = read_text(r, "kind");
	r->has_count = dw_json_get(j, root, "count");
	r->has_descending = descending;
	r->descending = is_true(descending);
	r->is_inverted = is_true(dw_json_get(j, root, "inverted"));
	r->intel = is_true(dw_json_get(j, root, "intel"));
	rc = read_numbers(r, err);
	return rc ? rc : read_share(r, &r->min_share, err);
}

int dw_page_request_read(struct dw_page_request *r, const char *text, size_t n,
			 struct dw_error *err)
{
	const struct dw_json_value *columns;
	int rc;

	*r = (struct dw_page_request){0};
	rc = dw_json_read(&r->json, text, n, err);
	if (rc)
		return rc;
	if (dw_json_root(&r->json)->kind != DWELL_JSON_OBJECT)
		return dw_error_set(err, DWELL_ERR_USAGE, "a request is an object");
	rc = read_rest(r, err);
	if (rc)
		return rc;
	if (!r->op)
		return dw_error_set(err, DWELL_ERR_USAGE, "a request has an op");
	columns = dw_json_get(&r->json, dw_json_root(&r->json), "columns");
	r->has_columns = columns;
	rc = read_words(r, columns, &r->columns, err);
	return rc ? rc : read_filter(r, err);
}

struct dw_filter_words dw_page_request_words(const struct dw_page_request *r)
{
	struct dw_filter_words words = {
		.from_ns = r->from_ns,
		.to_ns = r->until_ns,
		.waits_left_out = r->waits_left_out,
	};

	for (enum dw_filter_kind kind = 0; kind < DWELL_FILTER_KINDS; kind++)
		dw_filter_words_set(&words, kind, r->lists[kind].v, r->lists[kind].n);
	return words;
}

void dw_page_request_release(struct dw_page_request *r)
{
	dw_vec_release(&r->columns);
	for (enum dw_filter_kind kind = 0; kind < DWELL_FILTER_KINDS; kind++)
		dw_vec_release(&r->lists[kind]);
	dw_json_release(&r->json);
}
