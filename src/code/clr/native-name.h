/*
 * Names of methods that were compiled to native code before they run (NativeAOT), from symbols.
 * Pure. [any-thread]
 */
#pragma once

#include "base/buf.h"

#include <stdbool.h>

/* What the compiler tells of a method. */
struct dw_native_method {
	const char *symbol;  /* its mangled name */
	const char *name;    /* of the method alone, as in the metadata; NULL = not told */
	const char *program; /* name of the file that it lies in, which is often its assembly's */
};

/*
 * Append the name of @m in the form of dw_method_name_put(), but with what generic ones are made
 * for, as each such method has code of its own: Box<int>.Fill; what is shared by all classes is T,
 * or T1, T2. Mangled names have one character for all but letters and digits: what was an
 * underscore comes out as a dot. False: that is no such method; nothing is appended.
 */
bool dw_native_name_put(struct dw_buf *b, const struct dw_native_method *m);
