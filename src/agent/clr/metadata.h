/*
 * What the tables say of classes, methods, modules and code addresses: each is named when it is
 * first seen, since the runtime may not know it later. May be called where no collection is
 * allowed. [any-thread]
 */
#pragma once

#include "agent/clr/runtime.h"
#include "wire/allocations.h"

#include <stdbool.h>
#include <stdint.h>

/* The row of @module, 0 = none, or no room. */
uint32_t dw_intern_module(uint64_t module);

/* Let @key, not 0, of call trees be the method @token of @module. The row, 0 = no room. */
uint32_t dw_intern_probed(uint64_t module, uint32_t token, uint32_t key);

/* Let @key be what the runtime does that is called @name, as if that were a method of @module. The
 * row, 0 = no room. */
uint32_t dw_intern_probed_as(uint64_t module, const char *name, uint32_t key);

/* The row of type @class, 0 = no room. */
uint32_t dw_intern_type(uint64_t class);

/* The row of the frame at return address @ip, in managed code of @function, 0 = no room. */
uint32_t dw_intern_frame(uint64_t function, uint64_t ip);

/* Whether the method of @frame is dynamic, made at run time. */
bool dw_interned_is_dynamic(const struct dw_clr_frame *frame);

/* Whether the method of @frame does the runtime's own work and is in no stack that it tells: for
 * calls between managed and native code, or for exceptions. */
bool dw_interned_is_hidden(const struct dw_clr_frame *frame);

/* The row of the method @function, 0 = no room. */
uint32_t dw_intern_function(uint64_t function);

/* The row of the method @function if it was seen, else 0. */
uint32_t dw_interned_find(uint64_t function);

/* Code of a module goes: addresses of classes and methods may come to mean others. Inside
 * dw_agent_enter(). */
void dw_interned_forget(void);

/* The method of row @row goes. Inside dw_agent_enter(). */
void dw_interned_forget_function(uint32_t row);

/* The method @function goes, its row stays. Inside dw_agent_enter(). */
void dw_interned_forget_id(uint64_t function);

/* Remember which IL the machine code of @function comes from, which was just compiled. Where
 * collections are allowed. */
void dw_intern_compiled(uint64_t function);

/* The code of @function that @ip, a return address, lies in. False: dw_intern_compiled() was not
 * told of it. */
bool dw_interned_code(uint64_t function, uint64_t ip, struct dw_com_code *ret);
