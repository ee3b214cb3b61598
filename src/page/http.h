/*
 * Requests of browsers (RFC 9112) as far as a page of one's own needs them: GET and HEAD without a
 * body. Foreign bytes, bounded.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

enum { DWELL_HTTP_BYTES_MAX = 16 << 10, DWELL_HTTP_FIELD_MAX = 256 };

struct dw_http_request {
	bool is_head;
	char target[DWELL_HTTP_FIELD_MAX]; /* path and query as they were sent */
	char host[DWELL_HTTP_FIELD_MAX];   /* "" = none */
	char origin[DWELL_HTTP_FIELD_MAX]; /* "" = none */
};

enum dw_http_state {
	DWELL_HTTP_MORE = 0, /* the head of the request is not complete */
	DWELL_HTTP_OK,
	DWELL_HTTP_BAD = 400,
	DWELL_HTTP_METHOD = 405, /* another one than GET and HEAD */
	DWELL_HTTP_TOO_LONG = 431,
};

/* Read the @n bytes at @text that have come so far. @ret counts only if they are a request. */
enum dw_http_state dw_http_read(const char *text, size_t n, struct dw_http_request *ret);

/* Whether @r asks for @path, compared in a time that tells nothing of how much of it is right. */
bool dw_http_is_for(const struct dw_http_request *r, const char *path);

/* Whether @r was sent to the server at @port of this machine under its own name, by its own page or
 * none: other names that lead here are those of who wants to read what is not his. */
bool dw_http_is_local(const struct dw_http_request *r, unsigned port);
