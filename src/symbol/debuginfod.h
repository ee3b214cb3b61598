/*
 * Debug information that is not on this machine, from the debuginfod servers that DEBUGINFOD_URLS
 * names.
 *
 * elfutils' libdebuginfod asks them and keeps what they send in the cache that other programs use,
 * too. It is loaded in processes of their own, with the caller's rights: no library of the network
 * comes into this one, and nothing that it does can hold this one up. What servers send is foreign:
 * it is read by helpers (helper.h) only, but for the build-id and the name of a supplementary file.
 * Source: debuginfod_find_debuginfo(3).
 */
#pragma once

#include "base/error.h"
#include "symbol/question.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum dw_debuginfod_state {
	DWELL_DEBUGINFOD_UNASKED,    /* nobody wanted it, or nothing was missing */
	DWELL_DEBUGINFOD_ASKED,	     /* the rest of the numbers says what came of it */
	DWELL_DEBUGINFOD_NO_SERVERS, /* DEBUGINFOD_URLS names none */
	DWELL_DEBUGINFOD_NO_LIBRARY, /* libdebuginfod.so.1 is not there */
};

struct dw_debuginfod_stats {
	enum dw_debuginfod_state state;
	uint32_t asked; /* modules without debug information here */
	uint32_t found;
	uint32_t wrong;	 /* answered with a file of another build-id, which is not used */
	uint32_t failed; /* no server could be asked */
	uint32_t late;	 /* not answered in time */
};

/* Whether the library can be loaded. Loads it. */
bool dw_debuginfod_has_library(void);

/* Whether DEBUGINFOD_URLS names a server. */
bool dw_debuginfod_has_servers(void);

struct dw_debuginfod_file;

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
