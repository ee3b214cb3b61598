/* Questions about modules of a profile. */
#pragma once

#include "model/profile.h"
#include "symbol/resolve.h"

/* Where separate debug files stand, as struct dw_question has it. */
#define DWELL_DEBUG_DIRS "/usr/lib/debug"

/* The source of @module among the @n by module id. NULL = it has none that can be read. */
static inline const struct dw_module_source *
dw_module_source_at(const struct dw_module_source *sources, size_t n, uint32_t module)
{
	const struct dw_module_source *source = module && module < n ? &sources[module] : NULL;

	return source && (source->fd >= 0 || source->image) ? source : NULL;
}

/* A question about @module of @p, whose source is @source, without addresses. What it refers to is
 * borrowed. */
static inline struct dw_question dw_module_question(const struct dw_profile *p,
						    const struct dw_module_source *source,
						    uint32_t module)
{
	const struct dw_module *m = dw_modules_get(&p->modules, module);

	return (struct dw_question){
		.source = source,
		.path = m ? dw_strings_get(&p->strings, m->path) : "",
		.debug_dirs = DWELL_DEBUG_DIRS,
		.debug_fd = -1,
		.alt_fd = -1,
		.unpacked_fd = -1,
	};
}
