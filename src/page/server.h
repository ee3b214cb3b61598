/*
 * A server of one page, for the browser of who runs it: on the loopback address, at a random port,
 * under a path that nobody else knows. It knows no files. One thread.
 */
#pragma once

#include "base/buf.h"
#include "base/error.h"

enum { DWELL_SERVER_PATH_BYTES = 40 };

struct dw_server {
	int fd; /* that listens */
	unsigned port;
	char path[DWELL_SERVER_PATH_BYTES]; /* "/TOKEN/" */
	const struct dw_buf *page;	    /* borrowed */
};

/* Listen, for requests of @page. 0 or -errno. */
int dw_server_open(struct dw_server *s, const struct dw_buf *page, struct dw_error *err);

/* Serve until @stop_fd is readable. 0 or -errno. */
int dw_server_run(struct dw_server *s, int stop_fd, struct dw_error *err);

/* Stop listening. */
void dw_server_close(struct dw_server *s);
