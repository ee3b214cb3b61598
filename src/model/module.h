/*
 * Modules: the files and other sources of code that a recording saw.
 *
 * A module is one piece of code with one address space of its own (svma): an ELF file by device and
 * inode, the vdso, the kernel, code without a file. The same file mapped by many processes is one
 * module.
 */
#pragma once

#include "base/vec.h"

#include <stdbool.h>
#include <stdint.h>

enum dw_module_kind {
	DWELL_MODULE_FILE = 1, /* an ELF file */
	DWELL_MODULE_VDSO,     /* the kernel's page of user code, read from memory */
	DWELL_MODULE_KERNEL,   /* kernel text, one module for all */
	DWELL_MODULE_ANON,     /* executable memory without a file. Svma = avma */
	DWELL_MODULE_MANAGED,  /* a .NET assembly. Svma as in model/allocations.h */
	DWELL_MODULE_JIT,      /* code that runtimes made, as they tell. Svma likewise */
};

enum { DWELL_BUILD_ID_MAX_BYTES = 64 };

struct dw_module {
	enum dw_module_kind kind;
	uint32_t path; /* string: as the target names it, "[vdso]" and the like without brackets'
			  meaning lost */
	uint32_t name; /* string: the last part of the path, for people */
	uint8_t build_id[DWELL_BUILD_ID_MAX_BYTES];
	uint8_t build_id_bytes; /* 0 = none known */
	bool deleted;		/* the file was gone or replaced when it was mapped */
	uint64_t device;	/* st_dev, 0 = unknown */
	uint64_t inode;
};

/* Modules by id. Index 0 is never used. */
struct dw_modules {
	DW_VEC(struct dw_module) rows;
};

/* Append @m and give its id (1 and up). 0 or -ENOMEM. */
int dw_modules_add(struct dw_modules *t, const struct dw_module *m, uint32_t *ret);

/* The module of @id, borrowed until the next add. NULL for 0 and unknown ids. */
struct dw_module *dw_modules_get(const struct dw_modules *t, uint32_t id);

/* Number of modules. Ids run from 1 to this. */
uint32_t dw_modules_count(const struct dw_modules *t);

/* Free everything. */
void dw_modules_release(struct dw_modules *t);
