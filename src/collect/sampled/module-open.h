/*
 * Getting at the bytes of a module that a process has mapped.
 */
#pragma once

#include "collect/sampled/owners.h"
#include "collect/sampled/record.h"

#include <stdbool.h>
#include <sys/types.h>

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

/* Open what @o describes. 0; DWELL_ERR_NOT_FOUND when there is no way. @ret is written on success
 * only. */
int dw_module_open(const struct dw_opening *o, struct dw_opened *ret);
