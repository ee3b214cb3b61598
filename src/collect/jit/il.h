/*
 * Which IL made code comes from, of those pieces that samples lie in, by their svma in the profile
 * (functions.h). One thread.
 */
#pragma once

#include "base/vec.h"
#include "collect/jit/dotnet-methods.h"

#include <stdint.h>

/* From @svma on code comes from @il of the assembly that is @module. */
struct dw_jit_il {
	uint64_t svma;
	uint64_t il; /* as svmas of managed code (model/allocations.h), 0 = not known */
	uint32_t module;
};

struct dw_jit_ils {
	DW_VEC(struct dw_jit_il) rows;
};

/* Add what is told of @method, whose code lies from @svma on, to @t; it is one of @m's, in module
 * @module. 0 or -ENOMEM. */
int dw_jit_ils_add(struct dw_jit_ils *t, const struct dw_dotnet_methods *m,
		   const struct dw_dotnet_method *method, uint32_t module, uint64_t svma);

/* Nothing is added any more: find from now on. */
void dw_jit_ils_sort(struct dw_jit_ils *t);

/* What the code at @svma comes from, borrowed. NULL = not known. */
const struct dw_jit_il *dw_jit_ils_find(const struct dw_jit_ils *t, uint64_t svma);

/* Free everything. */
void dw_jit_ils_release(struct dw_jit_ils *t);
