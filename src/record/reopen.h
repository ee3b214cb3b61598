/*
 * Finding the files of a loaded profile's modules again, for sessions whose collector died.
 *
 * A file counts only if it is the same as when it was mapped: an equal build-id, else equal device
 * and inode.
 */
#pragma once

#include "model/profile.h"
#include "target/file.h"

#include <stddef.h>

struct dw_reopened {
	struct dw_module_source *sources; /* by module id */
	size_t n;			  /* modules + 1 */
};

/* Open what is still there, with the caller's own rights. 0 or -ENOMEM. */
int dw_reopen_modules(const struct dw_profile *p, struct dw_reopened *ret);

/* Close the files and free the table. */
void dw_reopened_release(struct dw_reopened *r);
