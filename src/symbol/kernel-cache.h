/*
 * The kernel's own functions as an earlier recording of this boot has listed them, in a cache
 * folder (base/cache.h): to have the kernel write its list takes longer than many a program runs.
 *
 * They do not change while it runs. Those of modules, BPF programs and the like do: they are not
 * kept. One thread.
 */
#pragma once

#include "symbol/kernel-names.h"

/* Let the empty @k have what the folder @dir has of the @boot. 0, or a negative code: nothing, and
 * @k stays empty. */
int dw_kernel_cache_read(const char *dir, const char *boot, struct dw_kernel_names *k);

/* Whether @svma lies between the first and the last function that @k has kept. */
bool dw_kernel_cache_spans(const struct dw_kernel_names *k, uint64_t svma);

/* As dw_kernel_names_find(), of what @k has kept. */
bool dw_kernel_cache_find(const struct dw_kernel_names *k, uint64_t svma,
			  struct dw_kernel_symbol *ret, uint64_t *ret_end);

/* Let go what @k has kept, if anything. */
void dw_kernel_cache_forget(struct dw_kernel_names *k);

/* Keep what @k has of the kernel's own functions. Where that fails nothing is kept. */
void dw_kernel_cache_write(const char *dir, const char *boot, const struct dw_kernel_names *k);
