/*
 * Large memory that is filled at once: huge pages save most of what its page faults cost, which is
 * a third of a microsecond and more for each 4 KB.
 */
#pragma once

#include <stddef.h>

/* Ask for huge pages for the @n bytes at @p, as far as they hold any. A wish: memory works without.
 */
void dw_large_advise(void *p, size_t n);

/*
 * Have malloc() keep its memory in one large piece of huge pages, where it is used and freed again
 * without asking the kernel. For programs of tens of MB that end soon; once, before other threads.
 * Does nothing where addresses or data are limited (ulimit -v, -d): it takes 256 MB of addresses.
 */
void dw_large_heap(void);
