/*
 * What a page asks for: one object of JSON, its words not yet held against a session.
 *
 * The words of a filter are those of `dwell report`'s options. All texts are borrowed from the
 * JSON.
 */
#pragma once

#include "analysis/selection.h"
#include "base/error.h"
#include "page/json-read.h"

#include <stdbool.h>
#include <stdint.h>

struct dw_words {
	const char **v;
	size_t n, cap;
};

struct dw_page_request {
	struct dw_json json;
	const char *op, *view, *name, *sort, *search, *measure, *order, *kind;
	bool has_columns;
	struct dw_words columns;
	/* The filter. */
	struct dw_words lists[DWELL_FILTER_KINDS];
	uint64_t from_ns, until_ns; /* 0 = no end */
	dw_wait_kinds waits_left_out;
	bool folds; /* the system's code, as tables do where they can: "all_code": false */
	bool delimited_intervals;
	const char *by, *root;
	/* The window, and where in a tree. */
	uint64_t from, count, node, buckets, function;
	bool descending, has_descending, has_count;
	bool is_inverted, intel;
	double min_share;
};

/* Read the @n bytes at @text. 0; DWELL_ERR_FORMAT; DWELL_ERR_USAGE for what no request may say;
 * -ENOMEM. To be released in any case. */
int dw_page_request_read(struct dw_page_request *r, const char *text, size_t n,
			 struct dw_error *err);

/* The words of its filter, borrowed. */
struct dw_filter_words dw_page_request_words(const struct dw_page_request *r);

/* Free everything. */
void dw_page_request_release(struct dw_page_request *r);
