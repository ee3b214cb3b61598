/*
 * Folders for sessions that do not stay.
 */
#pragma once

#include "base/error.h"

/* Make a new folder called @name-XXXXXX where temporary files are. NULL with a line in @err; else
 * the caller frees its path. */
char *dw_session_folder_new(const char *name, struct dw_error *err);

/* Remove what a recording may have left for the session @path, itself too. [signal-safe] */
void dw_session_files_remove(const char *path);
