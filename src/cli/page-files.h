/*
 * The page of a session as the browser gets it, from what was built with dwell.
 */
#pragma once

#include "base/buf.h"
#include "base/error.h"

/* What every page has. */
struct dw_page_parts {
	struct dw_buf template, engine;
};

/* Read them. 0; DWELL_ERR_UNSUPPORTED where dwell was built without the page; -errno. To be
 * released in any case. */
int dw_page_parts_read(struct dw_page_parts *ret, struct dw_error *err);

/* Free everything. */
void dw_page_parts_release(struct dw_page_parts *parts);

/* Pack the session at @path into @ret (page/pack.h). Errors of dw_pack_session(). */
int dw_page_pack(const char *path, struct dw_buf *ret, struct dw_error *err);

/* Make the page of @session, which is packed, in @ret; of NULL one that asks whom it comes from. 0
 * or errors of dw_page_write_file(). */
int dw_page_fill(const struct dw_page_parts *parts, const struct dw_buf *session,
		 struct dw_buf *ret, struct dw_error *err);

/* Make the page of the session at @path in @ret: all of these. */
int dw_page_make(const char *path, struct dw_buf *ret, struct dw_error *err);
