/*
 * Names and rights around a session's output: FILE, FILE.partial, and who holds it.
 *
 * A writer holds a lock on FILE.partial as long as it lives; that is how others tell a running
 * recording from one that was killed.
 */
#pragma once

#include "base/error.h"

#include <stdbool.h>
#include <stdint.h>

/* @path with @suffix behind, malloc()ed. NULL without memory. */
char *dw_output_name(const char *path, const char *suffix);

/* Whether some living writer holds @path. */
bool dw_output_is_held(const char *path);

/*
 * Hold the file that is open for writing as @fd for as long as that is open. 0; DWELL_ERR_REFUSED
 * when another does; -errno.
 */
int dw_output_hold(int fd, const char *path, struct dw_error *err);

/* Make the empty file @path, which must not exist, and open it. *@ret: a descriptor. 0 or -errno.
 */
int dw_output_create(const char *path, int *ret, struct dw_error *err);

/*
 * Make @path, a leftover without value or absent, a new empty file that is open as *@ret and held
 * until that is closed, without journals of SQLite beside it. Of several who try at a time one gets
 * it. 0; DWELL_ERR_REFUSED: another has it; -errno.
 */
int dw_output_claim(const char *path, int *ret, struct dw_error *err);

/* Remove @path, which nobody else may hold, and the files that SQLite may have left beside it. */
void dw_output_remove(const char *path);

/* Make the renaming of @path lasting. 0 or -errno. */
int dw_output_sync_folder(const char *path, struct dw_error *err);

/* The first bytes of a session file, read before SQLite sees it: most files that are no session end
 * here, with a better word than SQLite's. */
struct dw_session_header {
	uint64_t file_bytes;
	bool wal; /* written in WAL mode: a .partial */
};

/*
 * Read the header of the open file @fd. 0; DWELL_ERR_FORMAT (no session, or cut);
 * DWELL_ERR_UNSUPPORTED (newer); -errno. The message lacks the file's name.
 */
int dw_session_header_read(int fd, struct dw_session_header *ret, struct dw_error *err);
