/*
 * Command lines of processes, and what is told of them in few words.
 */
#pragma once

#include "base/buf.h"

#include <stddef.h>
#include <sys/types.h>

/* Append the words of @n bytes at @words, each of which a NUL ends, quoted for a shell; NULs behind
 * the last one are none. */
void dw_command_line_quote(const char *words, size_t n, struct dw_buf *ret);

/*
 * Append what tells a process apart by its command line, which is as above: the program, and the
 * first file of its own that is an argument: "cc1plus format.cc". Files of the system and temporary
 * ones tell nothing.
 */
void dw_command_line_shorten(const char *words, size_t n, struct dw_buf *ret);

/* Read the command line of @pid and append both; of one without, as in the kernel, nothing. 0,
 * -ENOMEM, or another -errno: it is gone. */
int dw_command_line_read(pid_t pid, struct dw_buf *ret_short, struct dw_buf *ret_line);
