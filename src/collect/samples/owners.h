/*
 * In whose name, and under which root, files of processes are opened; equal ones are kept once.
 *
 * Owners are never dropped, so a process that is gone still has one, and module sources may borrow
 * from them. A root that is ours is not held open.
 */
#pragma once

#include "base/vec.h"
#include "target/file.h"

#include <stdint.h>
#include <sys/types.h>

struct dw_owner {
	struct dw_rights rights;
	int root_fd;	   /* O_PATH, owned; -1 = our own root */
	uint64_t mount_ns; /* inode of the mount namespace */
	dev_t root_device;
	ino_t root_inode;
};

struct dw_owners {
	DW_VEC(struct dw_owner *) v; /* index 0 is this process itself, once anything was asked */
};

/* The owner of @pid now. When it is gone or cannot be looked at: @otherwise. NULL = no memory. */
const struct dw_owner *dw_owners_get(struct dw_owners *o, pid_t pid,
				     const struct dw_owner *otherwise);

/* This process. NULL = no memory. */
const struct dw_owner *dw_owners_self(struct dw_owners *o);

/* Close and free all. */
void dw_owners_release(struct dw_owners *o);
