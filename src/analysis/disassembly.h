/*
 * The machine code that a session holds, by address: where instructions begin, and what they are.
 *
 * Borrows the profile. One thread; read-only once it was made.
 */
#pragma once

#include "base/buf.h"
#include "base/vec.h"
#include "model/profile.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A stretch of code or a function, [@svma, @end) of a module. */
struct dw_code_stretch {
	uint32_t module;
	uint32_t function;
	uint64_t svma, end;
	const struct dw_code *code; /* borrowed; NULL in the list of functions */
};

struct dw_disassembly {
	const struct dw_profile *profile;
	DW_VEC(struct dw_code_stretch) codes;	  /* by module and address */
	DW_VEC(struct dw_code_stretch) functions; /* likewise, those with a length */
};

/* List what @p holds. 0 or -ENOMEM, to be released in any case. */
int dw_disassembly_init(struct dw_disassembly *d, const struct dw_profile *p);

/* The stretch of code that holds @svma of @module, borrowed. NULL = the session has none. */
const struct dw_code_stretch *dw_disassembly_find(const struct dw_disassembly *d, uint32_t module,
						  uint64_t svma);

/* The function that holds @svma of @module, borrowed. NULL = none that is known. */
const struct dw_code_stretch *dw_disassembly_function(const struct dw_disassembly *d,
						      uint32_t module, uint64_t svma);

/* Bytes of the instruction at @svma of @s: 1 where there is none that makes sense. */
size_t dw_disassembly_step(const struct dw_code_stretch *s, uint64_t svma);

/* Append the instruction that begins at @svma of @module, with the name of what it jumps to or
 * calls, in Intel's way or AT&T's. Nothing where its code is not known. */
void dw_disassembly_put(const struct dw_disassembly *d, uint32_t module, uint64_t svma, bool intel,
			struct dw_buf *to);

/* Tell @p for each of its frames which instruction it is in, as far as the session has the code, so
 * that totals count return addresses as their calls. 0 or -ENOMEM. */
int dw_disassembly_tell(struct dw_profile *p);

/* Free everything. */
void dw_disassembly_release(struct dw_disassembly *d);
