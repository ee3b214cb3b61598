/*
 * Words of a module's data that hold addresses of code, its own or of symbols.
 */
#pragma once

#include "clone/module.h"

/*
 * Fill m->pointers: by the dynamic relocations, and in modules at fixed addresses also by value,
 * which may find too many; and m->slots. The segments must have been read. 0 or -ENOMEM.
 */
int dw_clone_pointers_read(struct dw_clone_module *m);
