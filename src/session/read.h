/*
 * Reading a session as a hostile file: nothing in it is trusted, nothing in it is executed.
 */
#pragma once

#include "base/error.h"
#include "model/profile.h"

#include <stdbool.h>

struct dw_session_info {
	bool finished; /* symbols are inside; false: a .partial of a running or killed collector */
};

/*
 * Load the session at @path into @p (an empty profile; release it also after failure).
 * @info  may be NULL.
 * Returns 0; DWELL_ERR_FORMAT (no session, damaged, cut: @err says what and where);
 * DWELL_ERR_UNSUPPORTED (a newer version); -errno.
 */
int dw_session_load(const char *path, struct dw_profile *p, struct dw_session_info *info,
		    struct dw_error *err);
