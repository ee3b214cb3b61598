/*
 * The mappings of a process as /proc/PID/maps lists them.
 *
 * The text comes from the kernel, but paths in it come from the target: they are bytes to show or
 * to open with care (target/file.h). Not for sharing between threads.
 */
#pragma once

#include "base/vec.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct dw_mapping {
	uint64_t start;	 /* avma */
	uint64_t end;	 /* exclusive */
	uint64_t offset; /* of start in the file, bytes */
	dev_t device;
	uint64_t inode;	  /* 0 = no file */
	const char *path; /* borrowed from the list; "" = none. As the kernel prints it, but for
			     newlines: "[vdso]", "... (deleted)" */
	bool executable;
};

struct dw_mappings {
	DW_VEC(struct dw_mapping) rows;
	char *text; /* owned: what paths point into */
};

/*
 * Parse @text (@n bytes and a NUL behind them), which is taken over in every case. Lines that make
 * no sense are left out. 0 or -ENOMEM.
 */
int dw_mappings_parse(char *text, size_t n, struct dw_mappings *ret);

/* Read and parse the mappings of @pid. 0, -ENOENT or -ESRCH when it is gone, -EACCES, -ENOMEM. */
int dw_mappings_read(pid_t pid, struct dw_mappings *ret);

/* Free everything and leave the list empty. */
void dw_mappings_release(struct dw_mappings *m);
