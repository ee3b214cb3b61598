/*
 * Clone images: made of a module, kept in a cache, and verified.
 *
 * An image is made whole in memory and put into the cache atomically, under a name made of the
 * module's identity, the options and dwell's own build. A cache file counts only if it belongs to
 * the effective user in a folder of that user, neither writable by others, and its header fits.
 * Calls may use two threads of their own; the caller needs no lock.
 */
#pragma once

#include "base/error.h"
#include "code/elf/elf.h"
#include "wire/clone-image.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Where a statement of the source begins. */
struct dw_clone_line {
	uint64_t svma;
	uint64_t line; /* equal = the same line of the source */
};

struct dw_clone_options {
	uint32_t probes;    /* enum dw_clone_probes */
	bool all_functions; /* probes in short functions too */
	/* Whether the function at @svma is chosen; NULL = all. @selection_key is a text that stands
	 * for this choice in the cache ("" = all). */
	bool (*is_chosen)(void *ctx, uint64_t svma);
	/* Whether the function at @svma gets DWELL_CLONE_SLOWEST; NULL = none does. Part of
	 * @selection_key too. */
	bool (*is_slowest)(void *ctx, uint64_t svma);
	/* The name of the function at @svma for the image's symbol table, borrowed until the next
	 * call; NULL = no name. May be NULL. */
	const char *(*name)(void *ctx, uint64_t svma);
	void *ctx;
	const char *selection_key;
	/* Where probes for statements are wanted, with DWELL_PROBES_TIME: rising svmas. Borrowed.
	 */
	const struct dw_clone_line *lines;
	size_t lines_n;
};

/*
 * Make the clone image of @elf. *@ret, @ret_n bytes, is the caller's to free(). 0;
 * DWELL_ERR_NOT_FOUND (no unwind table: nothing to clone); DWELL_ERR_UNSUPPORTED; DWELL_ERR_FORMAT;
 * DWELL_ERR_LIMIT; -ENOMEM.
 */
int dw_clone_make(const struct dw_elf *elf, const struct dw_clone_options *options, uint8_t **ret,
		  size_t *ret_n, struct dw_error *err);

/*
 * The path of the image of @elf in the cache folder @dir: found there, or made and put there. *@ret
 * is the caller's to free(). Errors as dw_clone_make(); -errno; DWELL_ERR_REFUSED (the folder is
 * not ours).
 */
int dw_clone_cached(const char *dir, const struct dw_elf *elf,
		    const struct dw_clone_options *options, char **ret, struct dw_error *err);

/* What @reason means, in a few words. Static. */
const char *dw_clone_reason_text(uint32_t reason);
