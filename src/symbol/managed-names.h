/*
 * Names of .NET methods that were compiled to native code: debug information has their bare names,
 * all declared in line 1 of one file, and symbols are mangled. For helper processes.
 */
#pragma once

#include "code/elf/elf.h"
#include "symbol/answer.h"

/*
 * Name the functions in @a that lie in @elf's managed code, whose path is @path, as C# writes them;
 * their symbols become linkage names. 0 or -ENOMEM.
 */
int dw_managed_names_put(struct dw_answer *a, const struct dw_elf *elf, const char *path);
