/*
 * A file that has its name only once it is whole: it is written beside under another name and
 * renamed; a signal that ends dwell before removes it. A link is followed, also one that leads
 * nowhere yet. What is there and is no regular file (a pipe) is written in place, and so is what
 * stands for a file that is open (/dev/stdout).
 */
#pragma once

#include "base/error.h"

#include <stdbool.h>

struct dw_whole_file {
	int fd;
	char *path;	 /* links followed; NULL = not open */
	char *temporary; /* NULL = in place */
	int leftover;	 /* its number in leftovers.h, 0 = none */
};

/* Whether @path is written in place. */
bool dw_whole_file_is_in_place(const char *path);

/* Begin to write @path, to f->fd. 0, or -errno with a message and nothing to release. */
int dw_whole_file_open(struct dw_whole_file *f, const char *path, struct dw_error *err);

/* All is written: close. 0 or -errno with a message. */
int dw_whole_file_close(struct dw_whole_file *f, struct dw_error *err);

/* Give it its name, closed. 0 or -errno with a message. */
int dw_whole_file_keep(struct dw_whole_file *f, struct dw_error *err);

/* Free everything. What was not kept is removed. Zero-initialised is fine. */
void dw_whole_file_release(struct dw_whole_file *f);
