/*
 * Where the parts of a function's name are, as demanglers and runtimes write them: C, C++, Rust, D,
 * .NET, Java. What cannot be told apart is part of the own name.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* Places in a name, as offsets of bytes:
 *
 *   static std::vector<int> ns::Box<long>::get<short>(int, char const*) const
 *                           ^scope         ^own^own_end              ^end
 *                                                    ^args         ^args_end
 */
struct dw_function_name {
	size_t scope;	 /* behind a return type */
	size_t own;	 /* behind the scopes */
	size_t telling;	 /* likewise, but before the last scope of what has no name of its own, as a
			    closure, or is called alike everywhere */
	size_t own_end;	 /* before its template arguments and parameters */
	size_t args;	 /* of the bracket before the parameters; @end without any */
	size_t args_end; /* behind the bracket after them */
	size_t end;
};

/* Find the parts of the @n bytes at @name. Any bytes will do. */
void dw_function_name_parse(const char *name, size_t n, struct dw_function_name *ret);

/* Whether @n bytes at @text are the own name at @name, or its end from some scope on:
 * "get" and "Box<long>::get" are of the name above. */
bool dw_function_name_is(const char *name, const char *text, size_t n);
