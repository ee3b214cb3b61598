/*
 * Putting source into a session, so that its lines can be shown on a machine that has none of it.
 */
#pragma once

#include "model/profile.h"
#include "target/file.h"

#include <stddef.h>

/*
 * Read the source files of @p's lines into p->sources: those with most of their own time first, as
 * far as 16 MB go. They are looked for where the debug information says that they are, under the
 * root and with the rights of whom the module belongs to.
 * @sources  by module id, @n of them.
 * 0 or -ENOMEM; what cannot be read is left out. Facts: source_files, source_files_left_out.
 */
int dw_source_pack(struct dw_profile *p, const struct dw_module_source *sources, size_t n);
