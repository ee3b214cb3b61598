/*
 * Modules as the target maps them: each file becomes one row of the profile when first seen, with
 * its bytes and unwind table at hand.
 *
 * A file is opened by the path that the kernel tells, under the process's root and with its rights,
 * and counts only if it is the file that is mapped; else through the process's own links; else its
 * image is copied from the process's memory.
 */
#pragma once

#include "base/map.h"
#include "base/vec.h"
#include "collect/samples/owners.h"
#include "collect/samples/record.h"
#include "model/profile.h"
#include "target/file.h"
#include "unwind/space.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct dw_elf;
struct dw_image;

struct dw_opening {
	pid_t pid;		      /* a process that has it mapped, may be gone */
	const struct dw_owner *owner; /* of that process */
	const struct dw_owner *own;   /* of this one */
	const struct dw_perf_mapping *mapping;
	const char *path; /* in the process's root */
	bool deleted;	  /* nothing is to be found under the path */
	const char *cache_dir;
};

struct dw_opened {
	struct dw_image *image; /* the caller's */
	bool replaced;		/* the path leads elsewhere by now */
	bool is_private; /* from memory, though the owner may not read the file: unwind with it, but
			    do not hand it on */
};

struct dw_image;

struct dw_module_state {
	struct dw_image *image; /* NULL = could not be had */
	uint64_t generation;	/* of the inode, 0 = not known */
	uint32_t tries;		/* so far, to get at its bytes */
};

/* Find the bytes of the module called @path. 0, and *@ret is the caller's; else there are none. */
typedef int dw_module_find_fn(void *ctx, const char *path, bool is_vdso, struct dw_image **ret);

struct dw_perf_modules {
	struct dw_profile *profile; /* borrowed */
	struct dw_owners *owners;   /* borrowed */
	const char *cache_dir;	    /* borrowed, NULL = none */
	bool offline;		    /* look at nothing but the records: no file, no process */
	dw_module_find_fn *find;    /* offline: NULL = nobody finds files */
	void *find_ctx;
	struct dw_idset by_file;		 /* (device, inode, generation) -> module id */
	uint32_t vdso;				 /* module id, 0 = not seen yet */
	uint32_t kernel;			 /* likewise */
	DW_VEC(struct dw_module_state) states;	 /* by module id */
	DW_VEC(struct dw_module_source) sources; /* by module id */
};

/* The process that has something mapped. */
struct dw_mapper {
	pid_t pid;
	const struct dw_owner *
		*owner; /* of the process, brought up to date when a file is opened */
	uint32_t *anon; /* module id of its code without a file, 0 = none yet */
};

/*
 * Find or make the module of @mapping and fill in @ret for the process's address space.
 * 0 or -ENOMEM. Bytes that cannot be had are no failure.
 */
int dw_perf_modules_map(struct dw_perf_modules *m, const struct dw_mapper *who,
			const struct dw_perf_mapping *mapping, struct dw_space_range *ret);

/* The module id of the kernel. 0 or -ENOMEM. */
int dw_perf_modules_kernel(struct dw_perf_modules *m, uint32_t *ret);

/* The file of module @id, borrowed. NULL = its bytes could not be had. */
const struct dw_elf *dw_perf_modules_elf(const struct dw_perf_modules *m, uint32_t id);

/* The sources by module id, borrowed until the next mapping. *@n = modules + 1. NULL = no memory.
 */
const struct dw_module_source *dw_perf_modules_sources(struct dw_perf_modules *m, size_t *n);

/* Free everything. */
void dw_perf_modules_release(struct dw_perf_modules *m);
