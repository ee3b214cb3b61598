/*
 * What names are put together from. What does not fit is cut. May be called where no collection is
 * allowed. [any-thread]
 */
#pragma once

#include "agent/clr/names.h"

enum {
	DWELL_NAME_WIDE = 512, /* UTF-16 units of one part of a name */
	DWELL_NAME_DEPTH = 8,  /* of arguments in arguments, and of types in types */
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

/* Append the type definition @token: types around it first, each with @nested behind. @depth: of
 * those that are in it. */
void dw_name_put_definition(struct dw_name *n, void *metadata, uint32_t token, const char *nested,
			    int depth);

/* The name of an element that is no class, by its CorElementType. */
const char *dw_name_element(int32_t kind);
