/*
 * Requests of browsers (RFC 9112) as far as a page of one's own needs them: GET and HEAD without a
 * body, and POST with one whose length is told. Foreign bytes, bounded.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

enum {
	DWELL_HTTP_BYTES_MAX = 16 << 10, /* of what comes before a body */
	DWELL_HTTP_BODY_MAX = 256 << 10,
	DWELL_HTTP_FIELD_MAX = 256,
};

struct dw_http_request {
	bool is_head, is_post;
	size_t body, body_n; /* where it begins in what was read, and its bytes; of POST alone */
	char target[DWELL_HTTP_FIELD_MAX]; /* path and query as they were sent */
	char host[DWELL_HTTP_FIELD_MAX];   /* "" = none */
	char origin[DWELL_HTTP_FIELD_MAX]; /* "" = none */
};

enum dw_http_state {
	DWELL_HTTP_MORE = 0, /* the request is not complete */
	DWELL_HTTP_OK,
	DWELL_HTTP_BAD = 400,
	DWELL_HTTP_METHOD = 405, /* another one than these */
	DWELL_HTTP_TOO_LARGE = 413,
	DWELL_HTTP_TOO_LONG = 431,
};

/* Read the @n bytes at @text that have come so far. @ret counts only if they are a request. */
enum dw_http_state dw_http_read(const char *text, size_t n, struct dw_http_request *ret);

/* What the target of @r has behind @path, which it begins with; NULL if it does not. Compared in a
 * time that tells nothing of how much of it is right. */
const char *dw_http_under(const struct dw_http_request *r, const char *path);

/* Whether @r was sent to the server at @port of this machine under its own name, by its own page or
 * none: other names that lead here are those of who wants to read what is not his. Who posts has to
 * say from where. */
bool dw_http_is_local(const struct dw_http_request *r, unsigned port);
