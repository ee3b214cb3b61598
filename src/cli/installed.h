/*
 * Files that come with this program: where they were built, or where they are installed.
 */
#pragma once

/* The path of the file @name in the first of two folders where it can be read: @built and
 * @installed
 * ("", or with a slash at the end), as seen from this program's folder. NULL = in neither. The
 * caller frees it. */
char *dw_installed_file(const char *name, const char *built, const char *installed);
