/*
 * A packed session: what a session holds as one run of bytes, for who has no SQLite. It is to be
 * compressed as a whole, so its chunks are not.
 *
 * 8 bytes "dwellpg1", then chunks, the index first: u bytes of the name of their kind, and the
 * name; u items; u bytes, and these as docs/session-format.md has them. The bytes may be anything.
 * In place of codes there are listings, as who has no SQLite has no decoder either: by code u
 * function, u bytes, u address, u instructions; of each, one behind the other, u bytes, u bytes of
 * its text, and that. They are all of the code's bytes.
 */
#pragma once

#include "base/buf.h"
#include "base/error.h"
#include "model/profile.h"
#include "session/range.h"

#include <stddef.h>
#include <stdint.h>

/* Load @n bytes at @data (which the profile does not borrow) into @p, an empty profile to be
 * released also after failure. @range: as in dw_session_load_summed(). 0, DWELL_ERR_FORMAT or
 * -ENOMEM. */
int dw_pack_load(const uint8_t *data, size_t n, const struct dw_session_range *range,
		 struct dw_profile *p, struct dw_error *err);

/* Pack the session at @path, which is finished, into @ret. @text_bytes_max: of instructions; what
 * is beyond is left out. 0 or errors of dw_session_load(). */
int dw_pack_session(const char *path, size_t text_bytes_max, struct dw_buf *ret,
		    struct dw_error *err);
