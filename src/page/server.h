/*
 * A server for the browser of who runs it: on the loopback address, at a random port, under a path
 * that nobody else knows. What stands below that path is told by who opens it. It knows no files.
 * One thread.
 */
#pragma once

#include "base/buf.h"
#include "base/error.h"

#include <stdbool.h>

enum { DWELL_SERVER_PATH_BYTES = 40 };

/* What was asked for, by who may: all borrowed. */
struct dw_server_question {
	const char *name;  /* behind the path, "" = the page */
	const char *query; /* behind '?', "" = none */
	bool is_post;
	const char *body; /* not terminated */
	size_t body_n;
};

struct dw_server_answer {
	const char *type;	    /* its media type, static */
	const struct dw_buf *whole; /* borrowed as long as the server runs; NULL = it is */
	struct dw_buf own;	    /* the answer's own */
};

/* Answers @q. 200; 404: there is no such thing; 405: not in this way; 500 without memory. @ret->own
 * is taken over in any case. */
typedef int dw_server_fn(void *ctx, const struct dw_server_question *q,
			 struct dw_server_answer *ret);

struct dw_server {
	int fd; /* that listens */
	unsigned port;
	char path[DWELL_SERVER_PATH_BYTES]; /* "/TOKEN/" */
	dw_server_fn *answer;
	void *ctx;
};

/* Listen, for requests that @answer knows. 0 or -errno. */
int dw_server_open(struct dw_server *s, dw_server_fn *answer, void *ctx, struct dw_error *err);

/* Serve until @stop_fd is readable. 0 or -errno. */
int dw_server_run(struct dw_server *s, int stop_fd, struct dw_error *err);

/* Stop listening. */
void dw_server_close(struct dw_server *s);
