/*
 * Where the bytes of a module come from, and with whose rights files that it names are opened.
 *
 * Filled by whoever saw the module mapped (src/collect), used by whoever reads symbols
 * (src/symbol).
 */
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct dw_cfi_table;

/* Where the bytes of one module come from. */
struct dw_module_source {
	int fd;		      /* the module's file, borrowed; -1 = none */
	const uint8_t *image; /* an ELF image as loaded in memory (vdso, deleted file), borrowed;
				 NULL = none */
	size_t image_bytes;
	const struct dw_cfi_table *cfi; /* its unwind table, borrowed; NULL = none at hand */
	int root_fd; /* O_PATH of the target's root, borrowed, for files named by debug information;
			-1 = ours */
	uid_t uid;   /* whose rights those files are opened with */
	gid_t gid;
	const gid_t *groups; /* borrowed */
	size_t groups_n;
};
