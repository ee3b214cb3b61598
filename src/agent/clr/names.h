/*
 * Names of types, methods and modules, from the runtime, as UTF-8. Cut when they are too long; what
 * the runtime does not tell is "?". May be called where no collection is allowed. [any-thread]
 */
#pragma once

#include <stdbool.h>
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

/* The method @token of @module, likewise. */
void dw_name_method(uint64_t module, uint32_t token, struct dw_name *ret);

/* Find out what modules without a path of their own are called. */
void dw_names_start(void);

/* The path of @module; in a single-file program as if that were its folder. And whether it has no
 * file, so that others may have its name, in *@ret_is_dynamic. */
void dw_name_module(uint64_t module, struct dw_name *ret, uint32_t *ret_is_dynamic);

/*
 * What names are put together from. What does not fit is cut. May be called where no collection is
 * allowed. [any-thread]
 */

enum {
	DWELL_NAME_WIDE = 512,	    /* UTF-16 units of one part of a name */
	DWELL_NAME_DEPTH = 8,	    /* of arguments in arguments, and of types in types */
	DWELL_NAME_PARAMETERS = 32, /* of one type or method */
};

/* Append @c. */
void dw_name_put(struct dw_name *n, char c);

/* Append @text. */
void dw_name_put_text(struct dw_name *n, const char *text);

/* Append the name of a type in metadata, @units of UTF-16 at most, without the mark of generic
 * ones. */
void dw_name_put_plain(struct dw_name *n, const uint16_t *text, uint32_t units);

/* The number in that mark, 0 = there is none: how many type parameters are the type's own. */
uint32_t dw_name_own_parameters(const uint16_t *text, uint32_t units);

/* Puts what a generic type is made for: the next @count in "<...>". */
struct dw_name_arguments {
	void (*put)(void *ctx, uint32_t count);
	void *ctx;
};

/* Append the type definition @token: types around it first, each with a dot behind; those that are
 * generic have their @arguments (NULL = none). @depth: of those that are in it. */
void dw_name_put_definition(struct dw_name *n, void *metadata, uint32_t token, int depth,
			    const struct dw_name_arguments *arguments);

/* Append the name of the type parameter @number of @owner. False: it has none. */
bool dw_name_put_parameter(struct dw_name *n, void *metadata, uint32_t owner, uint32_t number);

/*
 * Parameters of methods as text, from the metadata's signatures (ECMA-335, II.23.2).
 *
 * May be called where no collection is allowed. [any-thread]
 */

/* Where a signature stands: whose it is. */
struct dw_signature_place {
	void *metadata;
	uint32_t type, method; /* tokens */
};

/* Whether the method with signature @blob has type parameters of its own. */
bool dw_signature_is_generic(const uint8_t *blob, uint32_t bytes);

/*
 * Append the parameters of the method with signature @blob as in C#. Type parameters without a name
 * are !0, !1, the method's own !!0; what makes no sense is "?".
 */
void dw_signature_put(struct dw_name *n, const struct dw_signature_place *place,
		      const uint8_t *blob, uint32_t bytes);
