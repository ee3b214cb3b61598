/*
 * The process behind a region, and the files of its modules: what the kernel says of them, not what
 * the region claims.
 *
 * A hostile program may claim any process id and any path. A process counts only if it has the very
 * region mapped. Files are opened under its root with the rights of the region's owner, so that
 * nothing is read that this user could not read. One thread per object.
 */
#pragma once

#include "base/error.h"
#include "collect/region/regions.h"
#include "target/maps.h"
#include "target/file.h"

enum { DWELL_REGION_PROCESS_PATH = 4096 };

struct dw_region_process {
	pid_t pid;
	uid_t uid;
	gid_t gid;
	struct dw_mappings mappings;
	char exe[DWELL_REGION_PROCESS_PATH]; /* of its executable, "" = not known */
};

/*
 * Read the mappings of the process that @owner claims to be. 0; DWELL_ERR_REFUSED (it does not map
 * the region: a lie, another pid namespace, or exec meanwhile); -ENOENT or -ESRCH; -ENOMEM.
 * Release in any case.
 */
int dw_region_process_read(const struct dw_region_owner *owner, struct dw_region_process *ret);

/*
 * As dw_region_process_read(), for an @owner whose process id is one of another pid namespace:
 * looks at all processes that have this id in a namespace of their own, which takes milliseconds.
 * DWELL_ERR_NOT_FOUND: none of them maps the region.
 */
int dw_region_process_search(const struct dw_region_owner *owner, struct dw_region_process *ret);

/* The path of the executable, or of the file that the process has mapped where @m begins, as the
 * kernel names it, borrowed. NULL = none. */
const char *dw_region_process_path(const struct dw_region_process *p,
				   const struct dw_region_module *m);

/*
 * Open the file of module @m for reading; @own are our rights. The descriptor, or -errno (-EACCES:
 * its user may not read it; -ENOENT).
 */
int dw_region_process_open(const struct dw_region_process *p, const struct dw_region_module *m,
			   const struct dw_rights *own);

/* Free everything. */
void dw_region_process_release(struct dw_region_process *p);
