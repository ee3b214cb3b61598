/*
 * Garbage collections: what the runtime tells of them, which objects go in which generation.
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

/* What begins next was triggered by the thread of row @thread with the stack @node, 0 = not known.
 */
void dw_collection_triggered(uint32_t thread, uint32_t node);

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
