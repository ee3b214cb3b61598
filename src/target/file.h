/*
 * Opening files that a target names: under its root, with its rights, and never anything but a
 * regular file.
 *
 * A path from a target may lead to a FIFO (open would hang), to a device (open could do things) or
 * out of its root through links; none of these is followed. Descriptors are close-on-exec.
 */
#pragma once

#include "base/error.h"
#include "target/rights.h"

#include <sys/types.h>

/* O_PATH descriptor of the root of @pid. Or -errno. */
int dw_target_root_open(pid_t pid);

/*
 * Open @path for reading as if @root_fd (-1 = ours) were "/", with the rights @wanted instead of
 * @own. Links are followed within the root, magic links never. The descriptor; -EACCES, -ENOENT...;
 * -ENXIO when it is no regular file.
 */
int dw_target_file_open(int root_fd, const char *path, const struct dw_rights *wanted,
			const struct dw_rights *own);

/*
 * Open @name ("exe", "map_files/START-END") of /proc/@pid, a link that leads to the very file
 * however it is called now. The file's own permission bits are still checked against @wanted.
 * Errors as above.
 */
int dw_target_link_open(pid_t pid, const char *name, const struct dw_rights *wanted,
			const struct dw_rights *own);
