/*
 * A perf.data file -> a profile, piece by piece.
 *
 * Stacks that perf copied are unwound here, by the rules of the files that were mapped, those that
 * the kernel walked are taken as they are. Samples of one event only, or of all. One thread.
 */
#pragma once

#include "base/error.h"
#include "collect/backend.h"
#include "model/profile.h"
#include "target/file.h"

#include <stdbool.h>
#include <stddef.h>

struct dw_import;

struct dw_import_config {
	const char *path;      /* "-" = standard input */
	const char *event;     /* by name; NULL = the first, "all" = all of them */
	const char *cache_dir; /* for unwind tables, NULL = none */
	const char *home;      /* where perf keeps copies of files, NULL = nowhere */
	bool without_files;    /* open no other file: nothing has unwind rules or names */
};

/*
 * Open @config's file for @profile (borrowed until free) and note facts in it. 0;
 * DWELL_ERR_NOT_FOUND for an unknown event; DWELL_ERR_FORMAT, DWELL_ERR_UNSUPPORTED or -errno.
 * @err has one line.
 */
int dw_import_open(const struct dw_import_config *config, struct dw_profile *profile,
		   struct dw_import **ret, struct dw_error *err);

/* Take in some records, *@more = there are others. 0, -ENOMEM or another -errno. */
int dw_import_some(struct dw_import *i, bool *more);

/* Note what the end knows: how long it took, and whether the file was cut. 0 or -ENOMEM. */
int dw_import_end(struct dw_import *i);

/* Counters so far. */
void dw_import_stats(const struct dw_import *i, struct dw_backend_stats *ret);

/* Names of events with samples that were left out, separated by blanks. "" = none. Borrowed. */
const char *dw_import_left_out(const struct dw_import *i);

/* Where the bytes of each module come from, by module id, borrowed until free; *@n = modules + 1.
 */
const struct dw_module_source *dw_import_sources(struct dw_import *i, size_t *n);

/* Free everything. NULL is fine. */
void dw_import_free(struct dw_import *i);
