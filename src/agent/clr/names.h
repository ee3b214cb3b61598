/*
 * Names of types, methods and modules, from the runtime, as UTF-8. Cut when they are too long; what
 * the runtime does not tell is "?". May be called where no collection is allowed. [any-thread]
 */
#pragma once

#include <stdint.h>

enum { DWELL_NAME_BYTES = 1024 };

struct dw_name {
	uint32_t bytes;
	char text[DWELL_NAME_BYTES]; /* no NUL */
};

/* The type @class: arrays and generic arguments as in C#, nested ones behind their outer type and
 * a dot. Its module, 0 = the runtime's own, in *@ret_module. */
void dw_name_type(uint64_t class, struct dw_name *ret, uint64_t *ret_module);

/* The method @function: its type as in the metadata, nested ones behind a "+", "::", its name, its
 * parameters where the type has others of that name. Types and methods have their type parameters
 * behind them as in C#, whatever they are made for.
 * Made at run time: its name alone, and *@ret_token is 0. */
void dw_name_function(uint64_t function, struct dw_name *ret, uint64_t *ret_module,
		      uint32_t *ret_token);

/* Find out what modules without a path of their own are called. */
void dw_names_start(void);

/* The path of @module; in a single-file program as if that were its folder. And whether it has no
 * file, so that others may have its name, in *@ret_is_dynamic. */
void dw_name_module(uint64_t module, struct dw_name *ret, uint32_t *ret_is_dynamic);
