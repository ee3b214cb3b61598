/*
 * Finding the function that a user means.
 */
#pragma once

#include "base/buf.h"
#include "base/error.h"
#include "model/profile.h"

#include <stdint.h>

/*
 * The functions of @p that @text means: those whose demangled name it is; else those that it fits
 * as a glob; else those whose name contains it. "MODULE!NAME" and "MODULE!0xADDRESS" tell apart
 * functions of one name.
 * @ret  set to the only one.
 * Returns 0; DWELL_ERR_NOT_FOUND (none, or several: @err lists them, one a line, in the form that
 * is unique); -ENOMEM.
 */
int dw_match_function(const struct dw_profile *p, const char *text, uint32_t *ret,
		      struct dw_error *err);
