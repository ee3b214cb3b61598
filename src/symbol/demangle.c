/*
 * Demangling; see demangle.h. libiberty's own recursion limit stays on. Its automatic style knows
 * Rust and C++ but not D, which is asked for by its prefix.
 */
#include "symbol/demangle.h"

#include "symbol/answer.h"

#include <libiberty/demangle.h>
#include <string.h>

char *dw_demangle(const char *mangled)
{
	int options = DMGL_PARAMS | DMGL_ANSI;

	if (strnlen(mangled, DWELL_ANSWER_NAME_MAX_BYTES) == DWELL_ANSWER_NAME_MAX_BYTES)
		return NULL;
	if (mangled[0] != '_')
		return NULL;
	if (mangled[1] == 'D')
		return dlang_demangle(mangled, options);
	if (mangled[1] == 'R')
		return rust_demangle(mangled, options);
	return cplus_demangle(mangled, options | DMGL_AUTO);
}
