/*
 * Where a report goes: the terminal through a pager, a file, or a pipe.
 */
#pragma once

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct dw_terminal {
	int fd;	      /* to write to */
	bool owned;   /* close it */
	pid_t pager;  /* 0 = none */
	size_t width; /* columns, 0 = no terminal */
	bool colour;
};

/*
 * Decide where to write: @path, or stdout when it is NULL.
 * @human_readable  text for people: on a terminal it goes through $PAGER (less -FRX), with colour
 * unless NO_COLOR is set. 0 or -errno with a message; nothing to close then.
 */
int dw_terminal_open(struct dw_terminal *t, const char *path, bool human_readable,
		     struct dw_error *err);

/* Refuse to replace the session at @session by @path (NULL = stdout). 0 or DWELL_ERR_REFUSED. */
int dw_terminal_check(const char *path, const char *session, struct dw_error *err);

/* Whether @path (NULL = stdout) could be written, before long work for it. 0 or -errno with a
 * message. */
int dw_terminal_check_writable(const char *path, struct dw_error *err);

/* Columns of the terminal at @fd, 0 when it is none. */
size_t dw_terminal_width(int fd);

/* Whether there is a terminal at stdin and stdout that can be drawn on and typed at. */
bool dw_terminal_has_screen(void);

/* Whether text on @fd may be coloured: a terminal, no NO_COLOR, not TERM=dumb. */
bool dw_terminal_colour(int fd);

/* Close what is open and wait for the pager to end. 0 or -errno of the close. */
int dw_terminal_close(struct dw_terminal *t);
