/*
 * The page of a recording that goes on: what is asked of it is answered here, by the engine in this
 * process, as only that can read a session without names and find these in the files of this
 * machine. When the recording has ended, the browser gets the finished session, and does the rest.
 *
 * One thread.
 */
#pragma once

#include "base/buf.h"
#include "base/error.h"
#include "cli/live-recording.h"
#include "cli/page-files.h"
#include "page/server.h"

#include <stdbool.h>

struct dw_live_page;

/* Whether @path means a recording that goes on or was left, rather than a session that is finished:
 * by its name, as it is being written, or as there is nothing else. */
bool dw_live_page_suits(const char *path);

/* Make the page of the recording @path (a session's file, with or without ".partial"). *@ret is the
 * caller's. 0 or why not: as dw_live_load(), or dw_page_parts_read(). */
int dw_live_page_open(const char *path, struct dw_live_page **ret, struct dw_error *err);

/* Answers what a page asks: @ctx is a struct dw_live_page. */
dw_server_fn dw_live_page_answer;

/* Free it. NULL does nothing. */
void dw_live_page_free(struct dw_live_page *page);
