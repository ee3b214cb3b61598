/*
 * Memory of the agent's own, straight from the kernel. [async-signal-safe] [any-thread]
 */
#pragma once

#include <stddef.h>

/* @bytes of zeroed private memory, given back by dw_sys_munmap(). NULL: there is none, or no system
 * calls may be made. */
void *dw_agent_memory(size_t bytes);

/* @old, @old_bytes long, made @bytes long, what is new zeroed; it may move. NULL: it stays as it
 * is. */
void *dw_agent_memory_more(void *old, size_t old_bytes, size_t bytes);
