/*
 * How the stand-ins for dlopen() and its like, in loader-calls-x86-64.S, reach the real functions.
 */
#pragma once

#include <stdint.h>

/* Both in registers: rax, rdx. */
struct dw_route {
	void *real;
	uint64_t ret; /* avma of a `ret` of the caller's module; 0: the real function sees the
			 caller */
};

/*
 * The way for a call that returns to @caller: of the real function @id (enum dw_real). With ret 0
 * the real function is jumped to as if it had been called. [any-thread]
 */
struct dw_route dw_loader_route(uint64_t caller, uint32_t id);

/* Call @real(@a, @b, @c) so that it finds @ret, which is a `ret`, as its return address. */
void *dw_call_from(void *a, void *b, void *c, uint64_t ret, void *real);

/* dlopen() or dlmopen() of a clone: dw_call_from(), then what was opened is cloned. */
void *dw_open_from(void *a, void *b, void *c, uint64_t ret, void *real);
