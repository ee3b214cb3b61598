/*
 * Exports: a profile in the formats of other viewers, one file per format.
 *
 * To add one: src/export/NAME.c with a `const struct dw_export_ops`, its line in export.c, a test
 * that reads it back. Names come from targets and may hold any byte: each format escapes them by
 * its own rules, all text is valid UTF-8.
 */
#pragma once

#include "base/error.h"
#include "base/out.h"
#include "export/paths.h"
#include "export/sample-values.h"

/* What a format writes. */
struct dw_export {
	const struct dw_profile *profile;
	struct dw_paths paths;
	struct dw_sample_values values;
	unsigned kind; /* which of the values, for formats that have one */
};

struct dw_export_ops {
	const char *name;
	const char *help; /* one line, lower case, no full stop */
	bool in_order;	  /* shows time: wants samples one by one */
	bool single;	  /* has one kind of values */
	bool binary;	  /* nothing for a terminal */
	/* Write all of @e. 0 or -ENOMEM; @out remembers failures of its own. */
	int (*write)(const struct dw_export *e, struct dw_out *out);
};

/* All formats, ended by NULL. */
extern const struct dw_export_ops *const dw_exports[];

/* The format called @name, NULL when there is none. */
const struct dw_export_ops *dw_export_find(const char *name);

/* The number of the values called @name that @p has under @filter, for formats that have one kind
 * of them. DWELL_ERR_USAGE with those that there are. */
int dw_export_find_kind(const struct dw_profile *p, const struct dw_filter *filter,
			const char *name, struct dw_error *err);

/*
 * Write what of @p passes @filter as @ops, of formats with one kind of values number @kind.
 * 0; DWELL_ERR_LIMIT; -ENOMEM. A write that failed is remembered in @out.
 */
int dw_export_write(const struct dw_export_ops *ops, const struct dw_profile *p,
		    const struct dw_filter *filter, unsigned kind, struct dw_out *out);

extern const struct dw_export_ops dw_export_pprof;
extern const struct dw_export_ops dw_export_speedscope;
extern const struct dw_export_ops dw_export_firefox;
extern const struct dw_export_ops dw_export_folded;
extern const struct dw_export_ops dw_export_callgrind;
