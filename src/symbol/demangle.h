/*
 * Names as their authors wrote them: C++, Rust and D, by libiberty.
 *
 * Only for helper processes: the names are hostile, and libiberty may take its time over one.
 */
#pragma once

/*
 * The readable form of @mangled with parameters; the caller free()s it. NULL when the name is not
 * mangled (or not by a scheme that is known), or too long.
 */
char *dw_demangle(const char *mangled);
