/*
 * Executables whose work is in a library that they are linked to: ruby, clang, R, jq.
 *
 * Such a library is named like the executable (libruby-3.1.so.3.1; compilers bring libLLVM along),
 * the executable itself is linked to it, and has less than a sixteenth of its code. Of the programs
 * of a distribution those that are no launchers have names of their own (convert, libMagickCore),
 * or some work of their own (curl, sqlite3). Files are foreign; one thread per object.
 */
#pragma once

#include "base/error.h"
#include "base/vec.h"

#include <stdbool.h>
#include <stdint.h>

/* The libraries that a program would load, without running it. */

struct dw_libraries {
	DW_VEC(char *) paths; /* owned */
};

/*
 * List what the loader would load for the program @path, which takes an agent (program.h), in its
 * order. The loader itself is asked; no code of the program or of its libraries runs. 0; -errno;
 * DWELL_ERR_FORMAT (the loader refused). Release in any case.
 */
int dw_libraries_list(const char *path, struct dw_libraries *ret, struct dw_error *err);

/* Free everything. */
void dw_libraries_release(struct dw_libraries *l);

enum { DWELL_LAUNCHER_TIMES = 16 };

struct dw_launcher {
	uint64_t code_bytes; /* of the executable */
	DW_VEC(char *)
	libraries; /* that may hold its work, as it calls them; owned; empty = none */
};

/* Look at the executable behind @fd, called @path. Where it cannot be read, or there is no memory,
 * it is no launcher. dw_launcher_release(). */
void dw_launcher_read(struct dw_launcher *ret, int fd, const char *path);

/* Whether the library that the loader calls @path may hold the work of @l: by its name. */
bool dw_launcher_names(const struct dw_launcher *l, const char *path);

/* Whether it does: it is the file behind @fd (-1 is fine), which has that much code. */
bool dw_launcher_chooses(const struct dw_launcher *l, const char *path, int fd);

/* Whether a library linked as @library is called like the executable in the file @executable, or
 * known to belong to it. Pure function. */
bool dw_launcher_is_named(const char *executable, const char *library);

/*
 * The libraries that hold the work of the program behind @fd, called @path, which takes an agent
 * (program.h). Those of most programs need no look further than the file. As dw_libraries_list().
 */
int dw_launcher_list(int fd, const char *path, struct dw_libraries *ret, struct dw_error *err);

/* Free everything. */
void dw_launcher_release(struct dw_launcher *l);
