/*
 * What the probes of methods call (clr/il/rewrite.h): events of calls, by the key that the probe
 * carries.
 *
 * The runtime's compiler calls them by the C convention with the key as argument, and takes nothing
 * for kept that this does not keep. The thread is one that runs managed code: a collection of
 * garbage waits for it, so nothing here waits for others but for moments. A method's frame is told
 * by its rbp: what handles its exceptions runs on a stack of its own below, with the same one, and
 * where a method goes on in better code that lies lower.
 *
 * They run on any thread and may be interrupted by any handler. What cannot be counted is dropped
 * and counted as such.
 */
#pragma once

#include "agent/clr/il/rewrite.h"

#include <stdbool.h>
#include <stdint.h>

/* Before the first probe. The slowest call of each method is kept, or of those alone that are
 * @chosen. */
void dw_method_probes_start(bool chosen);

/* Several of the slowest calls of the method of @key are kept. Before its first call. */
void dw_method_probes_keep_slowest(uint32_t key);

/* What an exception has ended lies below the frame @rbp, of a method that handles it. */
void dw_method_unwound(uint64_t rbp);

/* Collections of garbage are activations with this @key from now on. */
void dw_collections_start(uint32_t key);

/* The calling thread stops for a collection, or begins one, if it has called a method. */
void dw_collection_begins(void);

/* It goes on. Nothing if it has not stopped. */
void dw_collection_ends(void);

/* The probes' addresses, without key and signature. */
struct dw_il_probes dw_method_probes(void);

/* Where the code lies that probes run as a rule, in *@ret_bytes how long it is. */
uint64_t dw_method_probes_code(uint64_t *ret_bytes);
