/*
 * Filter files: the options that choose a part of a session, as text that people edit.
 *
 * Each line is one option as on the command line, --NAME=VALUE or --NAME VALUE, and is taken as if
 * it stood there in place of --filter. What is behind the = is the value as it is, without quotes.
 * Empty lines and those that begin with # say nothing.
 */
#pragma once

#include "analysis/filter.h"
#include "base/error.h"
#include "cli/options.h"

/* Take the options of the file at @path into @o. 0, or -errno, or DWELL_ERR_USAGE or
 * DWELL_ERR_FORMAT with the line and what is wrong with it. */
int dw_filter_file_read(const char *path, struct dw_filter_options *o, struct dw_error *err);

/* Write a file at @path that chooses what @words do. A file that is there must be empty or a filter
 * file. 0, DWELL_ERR_REFUSED or -errno. */
int dw_filter_file_write(const char *path, const struct dw_filter_words *words,
			 struct dw_error *err);
