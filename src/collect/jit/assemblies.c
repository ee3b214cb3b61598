/*
 * Assemblies of a process; see assemblies.h. The list is read again for a name that it lacks, as
 * methods of an assembly are told of after it has been mapped, but not for each of many.
 */
#include "collect/jit/assemblies.h"

#include "base/clock.h"

#include <string.h>
#include <time.h>

#define LOOK_NS 200000000ull

#define SUFFIX ".dll"

static const char *find(const struct dw_jit_assemblies *a, const char *name, size_t n)
{
	dw_vec_each(m, &a->maps.rows) {
		const char *slash = strrchr(m->path, '/');

		if (slash && m->path[0] == '/' && !strncmp(slash + 1, name, n) &&
		    !strcmp(slash + 1 + n, SUFFIX))
			return m->path;
	}
	return NULL;
}

const char *dw_jit_assembly_path(struct dw_jit_assemblies *a, pid_t pid, const char *name, size_t n)
{
	const char *path = find(a, name, n);
	uint64_t now_ns = path ? 0 : dw_clock_ns(CLOCK_MONOTONIC);

	if (path || now_ns < a->look_at_ns)
		return path;
	a->look_at_ns = now_ns + LOOK_NS;
	dw_mappings_release(&a->maps);
	return dw_mappings_read(pid, &a->maps) ? NULL : find(a, name, n);
}

void dw_jit_assemblies_release(struct dw_jit_assemblies *a)
{
	dw_mappings_release(&a->maps);
}
