/*
 * Garbage collections: which code triggers them, what the runtime tells of them, which objects go
 * in which generation.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* Get memory for collections to come. False: there is none. */
bool dw_collections_start(void);

/* The runtime begins to stop the program's threads. */
void dw_collection_suspends(void);

/* They run again. [any-thread] */
void dw_collection_resumed(void);

/* GarbageCollectionStarted: @condemned by generation, @n of them. */
void dw_collection_begins(int32_t n, const int32_t *condemned, bool is_induced);

/* ObjectsAllocatedByClass: the runtime has counted all young objects by class, which it does for
 * profilers only. */
void dw_collection_counted(void);

/* RootReferences2 and ObjectReferences: the collection is done, the runtime shows what is left. */
void dw_collection_shows(void);

/* The generation that @address is in, as a collection that goes on sees it, -1 = none. */
int32_t dw_collection_generation(uint64_t address);

/* MovedReferences2 and, with @to NULL, SurvivingReferences2. [any-thread] */
void dw_collection_survivors(uint32_t n, const uint64_t *from, const uint64_t *to,
			     const uint64_t *bytes);

/* GarbageCollectionFinished. */
void dw_collection_ends(void);

/* Find stacks too, or only threads, of what triggers. */
void dw_trigger_start(bool has_stacks);

/* A module was loaded: the collector is there. */
void dw_trigger_module_loaded(void);

/* The runtime begins to stop threads for a collection, in a callback with frame address @base. */
void dw_trigger_suspends(uint64_t base);

/* The runtime says by an event that this thread has triggered one. As above. */
void dw_trigger_said(uint64_t base);

/*
 * A last collection when the runtime ends, so that what is alive then is what is in use, not what
 * has not been collected yet: have it collect all generations, and wait for the callback that says
 * it ends. Objects whose finalizers have yet to run stay. False: it was refused, or did not end in
 * time.
 */
bool dw_last_collection(void);

/* For tests, and slow: compare what the runtime says of the generation of every live object with
 * what we believe. Results are facts of the region (wire/allocations.h). In
 * GarbageCollectionStarted, behind ours. */
void dw_oracle_collection(void);

/* Likewise what is on the heap. At the end of the program, before callbacks stop. */
void dw_oracle_heap(void);
