/*
 * Opening a session for reading, finished or not.
 *
 * A finished session holds its symbols. One of a running or killed collector (FILE.partial) does
 * not, and is symbolized in memory from the files it names.
 */
#pragma once

#include "base/error.h"
#include "model/profile.h"
#include "session/read.h"

/*
 * Load the session at @path, with symbols, into @p (an empty profile; release it also after
 * failure).
 * @range  nobody will ask for another one: calls are added up in it (session/read.h).
 * Returns 0; DWELL_ERR_FORMAT, DWELL_ERR_UNSUPPORTED (a newer version) or -errno: @err has one line
 * that names the file.
 */
int dw_open_profile(const char *path, const struct dw_session_range *range, struct dw_profile *p,
		    struct dw_error *err);

/*
 * The same for a look at a recording that goes on: names come from symbol tables alone, which is
 * quick, and no code is read. *@ret_finished = it has ended meanwhile.
 */
int dw_open_running(const char *path, struct dw_profile *p, bool *ret_finished,
		    struct dw_error *err);
