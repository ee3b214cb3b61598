/*
 * One module and its clone image: made or found in the cache, and what it says of each function.
 *
 * The module's file is foreign; the image is ours, but is checked all the same when it is read.
 * Making takes up to seconds and may run in another thread than the rest: the fields under "made"
 * belong to whoever makes it until that is done.
 */
#pragma once

#include "base/error.h"
#include "code/elf/elf.h"
#include "record/probe-selection.h"
#include "record/launcher.h"
#include "record/disabled-cache.h"
#include "symbol/module-symbols.h"
#include "wire/clone-image.h"
#include "wire/region.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>

/*
 * How images are made, the same for all of a session. Texts are borrowed.
 *
 * Images of files that other users own never meet the user's own cache: its keys are no defence
 * against a file made to look like another, whose image would then run in the user's programs.
 */
struct dw_image_plan {
	const char *cache_dir;	 /* of files that only we or root can change; NULL = none */
	const char *session_dir; /* of all others, a folder for each user; goes with the session */
	uint32_t probes;	 /* enum dw_clone_probes; the C library's may differ */
	bool all_functions;
	bool lines;   /* probes for statements, too */
	double limit; /* of overhead, by which what is switched off is remembered; 0 = it is not */
	bool forgets; /* what earlier runs have found out */
	struct dw_probe_selection selection;
};

enum dw_image_state {
	DWELL_IMAGE_NEW,
	DWELL_IMAGE_MAKING,
	DWELL_IMAGE_READY,
	DWELL_IMAGE_NONE, /* there is nothing to clone, or it failed: why */
};

struct dw_module_image {
	enum dw_image_state state;
	int fd;	    /* the module's file */
	char *path; /* as the kernel names it */
	struct stat file;
	uid_t uid; /* whose rights it was opened with */
	gid_t gid;
	uint32_t probes; /* enum dw_clone_probes: the plan's, or of system calls only */
	/* made */
	int rc;
	char *why;   /* NULL = no words */
	char *image; /* path in the cache */
	struct dw_clone_header header;
	bool lacks_lines; /* statements were wanted, and there is no debug information of any */
	uint64_t start;	  /* svma that module offsets count from */
	struct dw_clone_function_entry *functions; /* header.functions.n */
	/* Of earlier runs; filled further by the one who called. */
	struct dw_disabled_cache disabled_cache;
	/* what processes did with it */
	char *copy;				     /* path of a copy that all may read */
	uint64_t processes[DWELL_MODULE_CLOSED + 1]; /* by enum dw_region_module_state */
	bool is_looked_at;			     /* for what the next two tell */
	bool has_runtime;			     /* of .NET */
	struct dw_launcher launcher;		     /* of an executable */
	uint64_t *calls; /* by function, summed over processes; NULL = none */
};

/* An image to be made of the file behind @fd, taken over. NULL = no memory, @fd is closed. */
struct dw_module_image *dw_module_image_new(int fd, const char *path, uid_t uid, gid_t gid);

/* Whether a module called @path is the one that makes system calls for others: the C library. */
bool dw_module_image_is_libc(const char *path);

/* The svma that offsets in the module @elf count from: its lowest segment's page. */
uint64_t dw_module_start(const struct dw_elf *elf);

/* Whether @fd is the very file of @m, unchanged. */
bool dw_module_image_is_of(const struct dw_module_image *m, const struct stat *file);

/* Make the image as @plan says, or find it in the cache. m->rc tells how it went. */
void dw_module_image_make(struct dw_module_image *m, const struct dw_image_plan *plan);

/* Write down for later runs what is switched off of @m, which is ready. */
void dw_module_image_remember(const struct dw_module_image *m, const struct dw_image_plan *plan);

/*
 * The names of the functions, in their order. Only -ENOMEM and -errno are errors.
 * dw_function_names_release() in any case.
 */
int dw_module_image_names(const struct dw_module_image *m, struct dw_function_names *ret,
			  struct dw_error *err);

/* The file name of the module, borrowed. */
const char *dw_module_image_file(const struct dw_module_image *m);

/* Close and free. NULL is fine. */
void dw_module_image_free(struct dw_module_image *m);
