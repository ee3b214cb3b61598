/*
 * Debug information that is not on this machine, for a list of questions.
 */
#pragma once

#include "symbol/debuginfod.h"
#include "symbol/resolve.h"

/* Files that were got, open as long as questions refer to them. */
struct dw_fetched {
	struct dw_debuginfod_file *files;
	size_t n;
	struct dw_debuginfod_stats stats;
};

/*
 * Find out which of @n questions are about modules without debug information here, ask servers for
 * it, most addresses first, and give these questions the files, which @ret owns. Only build-ids of
 * such modules leave the machine.
 * @timeout_ms  for all servers and files together.
 * 0 (also when nothing came), -ENOMEM, -errno. Release @ret in any case.
 */
int dw_fetch_missing(struct dw_question *questions, size_t n, uint32_t timeout_ms,
		     struct dw_fetched *ret, struct dw_error *err);

/* Close the files. */
void dw_fetched_release(struct dw_fetched *f);
