/*
 * The kernel's own functions as an earlier recording of this boot has listed them, in a cache
 * folder (base/cache.h): to have the kernel write its list takes longer than many a program runs.
 *
 * They do not change while it runs. Those of modules, BPF programs and the like do: they are not
 * kept. One thread.
 */
#pragma once

#include "symbol/kernel-names.h"

/* Read into the empty @k what the folder @dir has of the @boot. 0, or a negative code: nothing, and
 * @k stays empty. */
int dw_kernel_cache_read(const char *dir, const char *boot, struct dw_kernel_names *k);

/* Keep what @k has of the kernel's own functions. Where that fails nothing is kept. */
void dw_kernel_cache_write(const char *dir, const char *boot, const struct dw_kernel_names *k);
