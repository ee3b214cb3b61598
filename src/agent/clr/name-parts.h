/*
 * What names are put together from. What does not fit is cut. May be called where no collection is
 * allowed. [any-thread]
 */
#pragma once

#include "agent/clr/names.h"

#include <stdbool.h>

enum {
	DWELL_NAME_WIDE = 512,	    /* UTF-16 units of one part of a name */
	DWELL_NAME_DEPTH = 8,	    /* of arguments in arguments, and of types in types */
	DWELL_NAME_PARAMETERS = 32, /* of one type or method */
};

/* Append @c. */
void dw_name_put(struct dw_name *n, char c);

/* Append @text. */
void dw_name_put_text(struct dw_name *n, const char *text);

/* Append UTF-16 as far as its NUL, at most @units. */
void dw_name_put_wide(struct dw_name *n, const uint16_t *text, uint32_t units);

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

/* The same with a "+" behind those around it, and each with its own type parameters: how many all
 * of them have. */
uint32_t dw_name_put_declaration(struct dw_name *n, void *metadata, uint32_t token, int depth);

/* Append the type parameters of @owner, a type or method, but for the first @skipped: "<A,B>". */
void dw_name_put_parameters(struct dw_name *n, void *metadata, uint32_t owner, uint32_t skipped);

/* Append the name of the type parameter @number of @owner. False: it has none. */
bool dw_name_put_parameter(struct dw_name *n, void *metadata, uint32_t owner, uint32_t number);

/* The name of an element that is no class, by its CorElementType. */
const char *dw_name_element(int32_t kind);
