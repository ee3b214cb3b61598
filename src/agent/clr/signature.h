/*
 * Parameters of methods as text, from the metadata's signatures (ECMA-335, II.23.2).
 *
 * May be called where no collection is allowed. [any-thread]
 */
#pragma once

#include "agent/clr/names.h"

#include <stdint.h>

/* Append the parameters of the method with signature @blob as in C#, with "<>" before them if it is
 * generic: parameters of its type are !0, !1, its own !!0. What makes no sense is "?". */
void dw_signature_put(struct dw_name *n, void *metadata, const uint8_t *blob, uint32_t bytes);
