/*
 * Names of what is not whole yet: a signal that ends dwell takes it away first.
 *
 * Signals that are handled or ignored already stay so. A process that was forked since then removes
 * nothing. [main-thread]
 */
#pragma once

#include <signal.h>

enum { DWELL_LEFTOVERS_MAX = 64 };

/* From here to the end no such signal comes, so that what is made has been named by then. */
void dw_leftovers_begin(sigset_t *before);

/* They may come again, as they were in @before. */
void dw_leftovers_end(const sigset_t *before);

/* Remove @path, a file or an empty folder, borrowed until it is dropped, where a signal ends dwell.
 * Its number, 0 = there are too many: it would stay. Those that were added last go first. */
int dw_leftovers_add(const char *path);

/* It may stay, or is gone. 0 is fine. */
void dw_leftovers_drop(int number);
