/*
 * Memory of the agent's own, straight from the kernel. [async-signal-safe] [any-thread]
 */
#pragma once

#include <stddef.h>

/* @bytes of zeroed private memory, given back by dw_sys_munmap(). NULL: there is none, or no system
 * calls may be made. */
void *dw_agent_memory(size_t bytes);
