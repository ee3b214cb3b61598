/*
 * What dwell sets up for its own process, and takes back in children: signals, and memory of huge
 * pages.
 */
#pragma once

#include <stddef.h>

/* Set these for the whole process and remember how they were. Call once, before any thread. */
void dw_dispositions_take(void);

/* Give them back as they were: in a forked child that is about to execute a program which is not
 * ours. Does nothing where they were not taken. [signal-safe] */
void dw_dispositions_restore(void);

/* Ask for huge pages for the @n bytes at @p, as far as they hold any. A wish: memory works without.
 */
void dw_large_advise(void *p, size_t n);

/*
 * Have malloc() keep its memory in one large piece of huge pages, where it is used and freed again
 * without asking the kernel. For programs of tens of MB that end soon; once, before other threads.
 * Does nothing where addresses or data are limited (ulimit -v, -d): it takes 256 MB of addresses.
 */
void dw_large_heap(void);
