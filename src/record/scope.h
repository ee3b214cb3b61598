/*
 * Which modules an instrumented run measures: executables, what --module names, and without that
 * the libraries that hold the work of a launcher (launcher.h). Keeps account of both. One thread.
 */
#pragma once

#include "base/vec.h"
#include "record/images.h"
#include "record/program.h"
#include "target/file.h"

#include <stdbool.h>

/* A library that was chosen because it holds an executable's work. Both are borrowed. */
struct dw_chosen {
	const struct dw_module_image *library, *executable;
};

struct dw_scope {
	const struct dw_globs *globs; /* --module; borrowed */
	bool *used;		      /* by index there: fitted a module that was loaded */
	DW_VEC(struct dw_chosen) chosen;
};

/* Start with @globs, borrowed. 0 or -ENOMEM. dw_scope_release() in any case. */
int dw_scope_init(struct dw_scope *s, const struct dw_globs *globs);

/* Whether a module called @path is wanted by a glob, which is marked as used then. */
bool dw_scope_names(struct dw_scope *s, const char *path);

/* Find out, once, whether @executable has a .NET runtime in itself, and which launcher it is. */
void dw_scope_look(struct dw_module_image *executable);

/* Whether @executable is left as it is unless the user names it: it is a .NET runtime for the most
 * part, whose methods are measured. */
bool dw_scope_leaves(struct dw_module_image *executable);

/* Whether the library that the loader calls @path may be chosen because it holds the work of
 * @executable. Never when the user has named modules. */
bool dw_scope_may_choose(const struct dw_scope *s, struct dw_module_image *executable,
			 const char *path);

/* Whether it is, now that its image, new or not, is @library. Keeps account of it. */
bool dw_scope_chooses(struct dw_scope *s, const struct dw_module_image *executable,
		      const struct dw_module_image *library, const char *path);

/* Make the images of @program, which takes an agent, and of libraries that hold its work, while
 * nobody waits for them. Failing is no error: whoever asks is told. */
void dw_scope_make_first(const struct dw_scope *s, const struct dw_program *program,
			 const struct dw_rights *own, struct dw_images *images);

/* Free everything. */
void dw_scope_release(struct dw_scope *s);
