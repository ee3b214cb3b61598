/*
 * The first bytes of a session file, read before SQLite sees it: most files that are no session end
 * here, with a better word than SQLite's.
 */
#pragma once

#include "base/error.h"

#include <stdbool.h>
#include <stdint.h>

struct dw_session_header {
	uint64_t file_bytes;
	bool wal; /* written in WAL mode: a .partial */
};

/*
 * Read the header of the open file @fd. 0; DWELL_ERR_FORMAT (no session, or cut);
 * DWELL_ERR_UNSUPPORTED (newer); -errno. The message lacks the file's name.
 */
int dw_session_header_read(int fd, struct dw_session_header *ret, struct dw_error *err);
