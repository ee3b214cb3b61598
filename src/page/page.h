/*
 * The engine behind a page: a session that answers requests, one text of JSON by another.
 *
 * It is the same in a program, behind a server, and in a browser as WebAssembly. Numbers are those
 * of reports, as they come from the same views. What was computed is kept for the next request:
 * the totals computed last, and the views opened last. One thread; a request whose filter fits
 * nothing leaves all as it was.
 */
#pragma once

#include "analysis/compute.h"
#include "base/error.h"
#include "base/out.h"
#include "model/profile.h"

#include <stdint.h>

struct dw_page;

/* Where the session comes from. */
struct dw_page_source {
	const char *name; /* what people call the session, borrowed */
	dw_load_fn *load; /* whole, or for a range of calls or objects; what runs, for all ranges */
	void *ctx;
};

/* Load the session of @source. 0 or why not. *@ret is the caller's. */
int dw_page_open(const struct dw_page_source *source, struct dw_page **ret, struct dw_error *err);

/* Load the session once more, as it is by now: ids of functions, nodes and rows are other ones
 * then. 0, or why not, and all is as it was. */
int dw_page_reload(struct dw_page *page, struct dw_error *err);

/* Answer the request of @n bytes at @text: append one line of JSON to @out, a buffer
 * (dw_out_init_buffer()), also where it makes no sense ({"error": why}). */
void dw_page_answer(struct dw_page *page, const char *text, size_t n, struct dw_out *out);

/* Free it. NULL does nothing. */
void dw_page_free(struct dw_page *page);
