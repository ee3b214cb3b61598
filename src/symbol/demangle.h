/*
 * Names as their authors wrote them: C++, Rust and D, by libiberty, and .NET methods that were
 * compiled to native code, of which debug information has bare names, all declared in line 1 of one
 * file.
 *
 * Only for helper processes: the names are hostile, and libiberty may take its time over one.
 */
#pragma once

#include "code/elf/elf.h"
#include "symbol/question.h"

/*
 * The readable form of @mangled with parameters; the caller free()s it. NULL when the name is not
 * mangled (or not by a scheme that is known), or too long.
 */
char *dw_demangle(const char *mangled);

/*
 * Name the functions in @a that lie in @elf's managed code, whose path is @path, as C# writes them;
 * their symbols become linkage names. 0 or -ENOMEM.
 */
int dw_managed_names_put(struct dw_answer *a, const struct dw_elf *elf, const char *path);
