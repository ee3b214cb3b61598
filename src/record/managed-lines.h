/*
 * Source lines of managed code, from the PDB files beside its assemblies or the PDBs in them.
 *
 * An assembly of a single-file program is called as if that were a folder: PROGRAM/NAME.dll. A PDB
 * counts only if its id is the one that the assembly names. Files are opened under the
 * target's root with its user's rights. Module ids are those of the profile that is recorded. One
 * thread.
 */
#pragma once

#include "base/vec.h"
#include "code/clr/pdb.h"
#include "code/clr/assembly.h"
#include "symbol/symbolize.h"
#include "target/file.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* Files inside single-file programs of .NET, read from an open descriptor. */

/* The list of the program that was read last; {0} at first. */
struct dw_bundle_list {
	dev_t dev;
	ino_t ino;
	void *bytes; /* owned; NULL = it has none */
	size_t n;
};

enum { DWELL_READ_MAX = 64 << 20 }; /* bytes at once */

/* The lines of one assembly. */
struct dw_assembly_lines {
	void *bytes; /* of its PDB, owned; NULL = none */
	struct dw_pdb pdb;
	char **documents; /* by row - 1, NULL = not read yet; owned */
};

struct dw_managed_lines {
	struct dw_rights own; /* ours */
	struct dw_bundle_list bundle;
	DW_VEC(struct dw_assembly_lines *) rows; /* by module id, NULL = none */
};

/* Whose files are read. */
struct dw_managed_owner {
	pid_t pid; /* under whose root, 0 = it is gone: ours, if the user is the same */
	uid_t uid;
	gid_t gid;
};

/* Begin without lines. 0, or as dw_rights_read(). Release in any case. */
int dw_managed_lines_open(struct dw_managed_lines *l);

/* Look for the lines of the assembly @path, module @module. Nothing found is no error. 0 or
 * -ENOMEM. */
int dw_managed_lines_add(struct dw_managed_lines *l, uint32_t module, const char *path,
			 const struct dw_managed_owner *owner);

/* The same below the root @root_fd (-1 = ours), with the rights @wanted. */
int dw_managed_lines_add_below(struct dw_managed_lines *l, uint32_t module, const char *path,
			       int root_fd, const struct dw_rights *wanted);

/* The same for a session whose processes are gone: our own files, which count only if they are not
 * younger than @before_ns, as of the realtime clock. */
int dw_managed_lines_add_again(struct dw_managed_lines *l, uint32_t module, const char *path,
			       int64_t before_ns);

/* The line of @svma (model/allocations.h) in @module, as dw_il_line_fn. @ctx is a struct
 * dw_managed_lines. */
bool dw_managed_lines_find(void *ctx, uint32_t module, uint64_t svma, struct dw_il_line *ret);

/* Free everything. */
void dw_managed_lines_release(struct dw_managed_lines *l);
