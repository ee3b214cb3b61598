/*
 * Debug files from the debuginfod servers that DEBUGINFOD_URLS names.
 *
 * elfutils' libdebuginfod asks them and keeps what they send in the cache that other programs use,
 * too. It is loaded in processes of their own, with the caller's rights: no library of the network
 * comes into this one, and nothing that it does can hold this one up. What servers send is foreign:
 * it is read by helpers (helper.h) only, but for the build-id and the name of a supplementary file.
 * Source: debuginfod_find_debuginfo(3).
 */
#pragma once

#include "base/error.h"

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

/* A wanted debug file. */
struct dw_debuginfod_file {
	uint8_t id[64]; /* build-id of the module */
	size_t id_n;
	int fd;	    /* set: the file, which has that build-id; -1 = none */
	int alt_fd; /* set: the supplementary file that it names; -1 = none */
};

/* Whether the library can be loaded. Loads it. */
bool dw_debuginfod_has_library(void);

/* Whether DEBUGINFOD_URLS names a server. */
bool dw_debuginfod_has_servers(void);

/*
 * Get @n files, the first ones first. Returns after @timeout_ms at the latest, and soon after a
 * SIGINT, SIGTERM or SIGHUP that is blocked, with those that have come by then: the descriptors are
 * the caller's. 0; -ENOMEM, -errno: no process could be started.
 */
int dw_debuginfod_get(struct dw_debuginfod_file *files, size_t n, uint32_t timeout_ms,
		      struct dw_debuginfod_stats *stats, struct dw_error *err);
