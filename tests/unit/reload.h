/*
 * Profiles that are encoded and decoded again, as a session would have them.
 */
#pragma once

#include "check.h"

#include "session/decode.h"
#include "session/encode.h"

static inline int reload_chunk(void *ctx, struct dw_raw_chunk *c)
{
	return dw_decode_chunk(c, NULL, ctx, NULL);
}

/* Append what @p holds to @again. 0 or what loading says. */
static inline int reload_into(const struct dw_profile *p, struct dw_profile *again)
{
	static const struct dw_encoded nothing;
	int rc = dw_encode_profile(p, &nothing, false, reload_chunk, again);

	return rc ? rc : dw_decode_finish(again, NULL);
}

/* What loading says of @p. */
static inline int reload(const struct dw_profile *p)
{
	static const struct dw_encoded nothing;
	struct dw_profile again = DW_PROFILE_INIT;
	int rc = dw_encode_profile(p, &nothing, false, reload_chunk, &again);

	dw_profile_release(&again);
	return rc;
}

/* Loading @p with @field set to @value is refused, and without this it is not. */
#define CHECK_REFUSED(p, field, value)                  \
	do {                                            \
		__auto_type was_ = (field);             \
		CHECK_INT(reload(p), 0);                \
		(field) = (__typeof__(was_))(value);    \
		CHECK_INT(reload(p), DWELL_ERR_FORMAT); \
		(field) = was_;                         \
	} while (0)
