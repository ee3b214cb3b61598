/*
 * The page as one file: a template, with the engine and a session in it.
 *
 * The template says itself what scripts and styles it has, and by a content-security policy with
 * their hashes that there are no others. Only three places of it are filled: @CONNECT@, the word of
 * that policy for what it may be connected with, and @ENGINE@ and @DATA@, base64 of gzip, so that
 * nothing of a session is ever markup. A page without data asks whom it comes from.
 */
#pragma once

#include "base/buf.h"
#include "base/error.h"
#include "base/out.h"

/* Read the file at @path into @ret. 0 or -errno. */
int dw_page_read_file(const char *path, struct dw_buf *ret, struct dw_error *err);

/* Append @from, compressed as gzip does (RFC 1952), to @ret. 0 or -ENOMEM. */
int dw_page_gzip(const struct dw_buf *from, struct dw_buf *ret);

/* Write @template with @engine (WebAssembly) and @session (pack.h) in it, NULL: who serves the page
 * answers in its place. 0, DWELL_ERR_FORMAT (that
 * is no template) or -ENOMEM. */
int dw_page_write_file(const struct dw_buf *template, const struct dw_buf *engine,
		       const struct dw_buf *session, struct dw_out *out, struct dw_error *err);
