/*
 * The files of native modules that an agent names by their paths only: opened while the process is
 * there, under its root and with its user's rights, and held until the session is finished. Or
 * found again (dw_module_files_find()). One thread.
 */
#pragma once

#include "base/vec.h"
#include "model/profile.h"
#include "record/managed-lines.h"
#include "target/file.h"

#include <stddef.h>
#include <stdint.h>

/*
 * The files of a loaded profile's modules, looked up again for sessions whose collector died.
 *
 * A file counts only if it is the same as when it was mapped: an equal build-id, else equal device
 * and inode.
 */

struct dw_module_files {
	struct dw_module_source *sources; /* by module id */
	size_t n;			  /* modules + 1 */
};

/* Open what is still there, with the caller's own rights. 0 or -ENOMEM. */
int dw_module_files_find(const struct dw_profile *p, struct dw_module_files *ret);

/* Close the files and free the table. */
void dw_module_files_release(struct dw_module_files *r);

enum { DWELL_NATIVE_FILES_MAX = 512 }; /* held open, others stay without names */

struct dw_native_files {
	uint32_t open;				 /* how many */
	DW_VEC(struct dw_module_source) sources; /* by module id */
};

/*
 * Open the file of @module of @p for @owner's process and note there which file it is; @own are our
 * rights. That it cannot be had is no error. 0 or -ENOMEM.
 */
int dw_native_files_add(struct dw_native_files *f, struct dw_profile *p, uint32_t module,
			const struct dw_managed_owner *owner, const struct dw_rights *own);

/* Close and free everything. */
void dw_native_files_release(struct dw_native_files *f);
