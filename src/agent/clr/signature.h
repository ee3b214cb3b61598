/*
 * Parameters of methods as text, from the metadata's signatures (ECMA-335, II.23.2).
 *
 * May be called where no collection is allowed. [any-thread]
 */
#pragma once

#include "agent/clr/names.h"

#include <stdbool.h>
#include <stdint.h>

/* Where a signature stands: whose it is. */
struct dw_signature_place {
	void *metadata;
	uint32_t type, method; /* tokens */
};

/* Whether the method with signature @blob has type parameters of its own. */
bool dw_signature_is_generic(const uint8_t *blob, uint32_t bytes);

/*
 * Append the parameters of the method with signature @blob as in C#. Type parameters without a name
 * are !0, !1, the method's own !!0; what makes no sense is "?".
 */
void dw_signature_put(struct dw_name *n, const struct dw_signature_place *place,
		      const uint8_t *blob, uint32_t bytes);
