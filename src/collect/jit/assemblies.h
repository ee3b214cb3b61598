/*
 * Where the assemblies lie that a process has mapped: runtimes tell of methods by an assembly's
 * name alone. One thread.
 */
#pragma once

#include "target/maps.h"

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct dw_jit_assemblies {
	struct dw_mappings maps; /* as they were at the last look */
	uint64_t look_at_ns;	 /* CLOCK_MONOTONIC: not before this time is looked again */
};

/* The path of the assembly that process @pid calls the @n bytes at @name, borrowed until the next
 * call. NULL = none is mapped, or the process is gone. */
const char *dw_jit_assembly_path(struct dw_jit_assemblies *a, pid_t pid, const char *name,
				 size_t n);

/* Free everything. */
void dw_jit_assemblies_release(struct dw_jit_assemblies *a);
