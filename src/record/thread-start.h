/*
 * Where threads begin: the start routine of each thread, from the outermost frames of its samples,
 * or from its outermost calls.
 */
#pragma once

#include "model/profile.h"

/*
 * Set the start function of every thread of the symbolized @p that has a complete sample or wait,
 * or calls: its outermost function that is not the kernel's, the C library's or the loader's, nor
 * _start. Of several it is the one seen most often, of calls the one with most time below it.
 * Threads without one keep 0.
 */
void dw_find_thread_starts(struct dw_profile *p);
