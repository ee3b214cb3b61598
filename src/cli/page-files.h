/*
 * The page of a session as the browser gets it, from what was built with dwell.
 */
#pragma once

#include "base/buf.h"
#include "base/error.h"

/* Make the page of the session at @path in @ret. DWELL_ERR_UNSUPPORTED where dwell was built
 * without it, or the session is not finished, and other errors of dw_pack_session(). */
int dw_page_make(const char *path, struct dw_buf *ret, struct dw_error *err);
