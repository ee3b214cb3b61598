/* The library of debugged.c. It makes code at run time, or so it tells debuggers: its list of that
 * must stay its own, and not become that of a library that comes first. */
#include <stdint.h>
#include <stdlib.h>

#define NOINLINE __attribute__((noinline, noclone))

int library_outer(int (*call)(int), int n);

struct list {
	uint32_t version, action;
	void *relevant, *first;
};

extern struct list __jit_debug_descriptor;
void __jit_debug_register_code(void);

static char own;
struct list __jit_debug_descriptor = {.version = 1, .relevant = &own};

NOINLINE void __jit_debug_register_code(void)
{
	__jit_debug_descriptor.action++;
}

static NOINLINE int library_inner(int (*call)(int), int n)
{
	return call(2 * n) + 1;
}

NOINLINE int library_outer(int (*call)(int), int n)
{
	__jit_debug_register_code();
	if (__jit_debug_descriptor.relevant != &own || __jit_debug_descriptor.action != 1)
		abort();
	__jit_debug_descriptor.action = 0;
	return library_inner(call, n + 1) * 3;
}
