/*
 * Methods of the runtime's core in which threads wait, by name: a lock, a sleep, a task's end. They
 * are few and cost nothing against what they do, so they have probes although nothing else of that
 * assembly has: what waits below a method has a name. Not known to the runtimes that wait
 * elsewhere in native code (locks before .NET 10). [any-thread]
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* Whether the assembly with the path @path, of @bytes without a NUL, is the runtime's core. */
bool dw_is_core_assembly(const char *path, uint32_t bytes);

/* The tokens of those methods among @metadata, the core's, that do more than to call another one:
 * @room at most. How many. */
uint32_t dw_blocking_methods(uint64_t module, void *metadata, uint32_t *ret, uint32_t room);
