/*
 * Names of the kernel's functions, as /proc/kallsyms lists them for the kernel that runs now.
 *
 * Read when the first one is asked for. Where the list hides addresses (kernel.kptr_restrict) or
 * the addresses are another boot's, nothing has a name. To have the kernel write its list takes
 * longer than many a program runs, so its own functions, which do not change while it runs, are
 * kept in a cache folder by its boot. Those of modules, BPF programs and the like are not. One
 * thread at a time.
 */
#pragma once

#include "base/buf.h"
#include "base/vec.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct dw_kernel_symbol {
	uint64_t start;
	const char *name;   /* borrowed from the list */
	const char *module; /* likewise, "" = the kernel itself */
	bool is_global;
};

struct dw_kernel_names {
	DW_VEC(struct dw_kernel_symbol) rows; /* by start, one for each */
	struct dw_buf text;
	bool was_read;
	const void *kept; /* what the cache has in place of both, mapped: the kernel's own functions
			     alone; NULL = nothing */
	size_t kept_bytes;
	const char *cache_dir; /* borrowed; NULL = none. Set before the first is asked for */
};

/* Take @text apart, the contents of the list, which @k takes over. 0 or -ENOMEM. */
int dw_kernel_names_parse(struct dw_kernel_names *k, struct dw_buf *text);

/*
 * Read the list, unless that was done, to name @svma, if this is the kernel whose addresses are to
 * be named. What the cache has is read first: the list is, too, when @svma lies elsewhere.
 * @boot   its boot, as the kernel calls it; NULL = not known.
 * @place  where that does not agree: "BUILD-ID SYMBOL ADDRESS" of a kernel, NULL = not known. If
 *         this one has that build-id and SYMBOL at that ADDRESS, its own code lies there, too; code
 *         of modules, which lies elsewhere after each boot, has no names then.
 * 0 or -ENOMEM.
 */
int dw_kernel_names_read(struct dw_kernel_names *k, const char *boot, const char *place,
			 uint64_t svma);

/* Whether the list @text has what @place says, and the kernel has the @notes (ELF notes, @notes_n
 * bytes). Pure. */
bool dw_kernel_names_agree(const char *place, const char *text, const uint8_t *notes,
			   size_t notes_n);

/* The function at @svma, and *@ret_end, where the next one begins. False: not known. */
bool dw_kernel_names_find(const struct dw_kernel_names *k, uint64_t svma,
			  struct dw_kernel_symbol *ret, uint64_t *ret_end);

/* Free everything. */
void dw_kernel_names_release(struct dw_kernel_names *k);

/* Let the empty @k have what the folder @dir has of the @boot. 0, or a negative code: nothing, and
 * @k stays empty. */
int dw_kernel_cache_read(const char *dir, const char *boot, struct dw_kernel_names *k);

/* Whether @svma lies between the first and the last function that @k has kept. */
bool dw_kernel_cache_spans(const struct dw_kernel_names *k, uint64_t svma);

/* Keep what @k has of the kernel's own functions. Where that fails nothing is kept. */
void dw_kernel_cache_write(const char *dir, const char *boot, const struct dw_kernel_names *k);
