/*
 * Processes that help: this very program, executed anew, and how it gives up rights before it reads
 * hostile debug information. A recording has threads, and a child that fork() leaves of it could
 * find any lock taken for ever; a new program has none.
 *
 * They begin in a constructor, so that each program that is linked with helpers can be one of them.
 */
#pragma once

#include "base/buf.h"
#include "target/file.h"

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

enum dw_spawn_kind {
	DWELL_SPAWN_SYMBOLS,	/* helper.h */
	DWELL_SPAWN_PREFETCH,	/* prefetch.h */
	DWELL_SPAWN_DEBUGINFOD, /* debuginfod.h */
};

/* What a helper was started with, borrowed for its life. */
struct dw_spawned {
	int fd; /* to talk over */
	const void *input;
	size_t input_n;
};

/*
 * Start a helper that reads @input and talks over the descriptor @fd; @keep_n descriptors @keep
 * stay open in it under their numbers. 0 and its process at *@ret, which the caller waits for; a
 * negative code.
 */
int dw_spawn(enum dw_spawn_kind kind, int fd, const struct dw_buf *input, const int *keep,
	     size_t keep_n, pid_t *ret);

/* The life of a helper that answers all questions in turn. Ends the process. */
_Noreturn void dw_helper_live(const struct dw_spawned *s);

/* The life of one that opens files first and is asked later. Ends the process. */
_Noreturn void dw_prefetch_live(const struct dw_spawned *s);

/* The life of one that asks servers. Ends the process. */
_Noreturn void dw_debuginfod_live(const struct dw_spawned *s);

/* Close all descriptors from @first to @last. 0 or -errno. */
int dw_spawn_close(unsigned first, unsigned last);

/* Write all @n bytes at @p to @fd. 0 or -errno. */
int dw_write_all(int fd, const void *p, size_t n);

/* What a helper keeps when it gives up rights. */
struct dw_confinement {
	const struct dw_module_source *whose; /* root and credentials to take */
	const int *keep;		      /* descriptors that stay open */
	size_t keep_n;
	unsigned cpu_seconds;
	size_t file_bytes; /* what may be written to files that are open */
};

/*
 * Close all other descriptors, take root and credentials of the target where they differ from ours,
 * set limits, forget all system calls that a reader does not need. Where root or credentials cannot
 * be taken, no file can be opened any more: what is open already remains readable. Only in a new
 * process with one thread. Returns 0 or -errno: then the process must end.
 */
int dw_confine(const struct dw_confinement *c);

/* Install the seccomp filter of this processor. 0 or -errno. */
int dw_confine_filter(bool may_open);
