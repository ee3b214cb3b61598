/*
 * Whether what the program points to can be read. A system call given a bad pointer fails with
 * EFAULT; an agent that looks before the kernel does must not fault there.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* Whether the @bytes at @at can be read: one system call for each page of them. Only where system
 * calls may be made (dw_agent_may_call()). [async-signal-safe] [any-thread] */
bool dw_is_readable(const void *at, size_t bytes);

/*
 * Whether @list, a list of texts as execve() takes it, can be read to its end. NULL is an empty
 * one. False also for one that is larger than the kernel takes. A system call for each of its
 * pages, so only where those may be made. [async-signal-safe] [any-thread]
 */
bool dw_are_readable_texts(char *const *list);
