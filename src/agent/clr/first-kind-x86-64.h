/*
 * What code itself says of how its caller is found, before anything is learnt from the runtime's
 * stacks: of managed code how its method begins, of native code its unwind tables. May be called
 * where no collection is allowed. [any-thread]
 */
#pragma once

#include "agent/clr/kinds-x86-64.h"

#include <stdbool.h>
#include <stdint.h>

/* Whether @ip is a return address in managed code. */
bool dw_is_managed(uint64_t ip);

/* Whether @ip is a return address in managed code or the runtime's. */
bool dw_is_code(uint64_t ip);

/* Whether @ip may be a return address: it lies in managed code or in a module. */
bool dw_leads_on(uint64_t ip);

/* The kind (kinds-x86-64.h) that the code at the return address of @s says. False: it is nothing
 * but likely, as where a method does not begin as others do. Reads nothing at or above @high. */
bool dw_first_kind(const struct dw_regs *s, uint64_t high, uint32_t *ret);

/* As dw_first_kind(), and sure: the frame is as large as its code says, and what leads on from
 * there is code, too. Not so in what handles an exception, on a frame that is not its own. */
bool dw_sure_kind(const struct dw_regs *s, uint64_t high, uint32_t *ret);
