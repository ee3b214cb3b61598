/*
 * What the runtime itself says of generations and of the heap, compared with what we believe: for
 * tests, and slow. Results are facts of the region (wire/allocations.h).
 */
#pragma once

/* Compare the generation of every live object. In GarbageCollectionStarted, behind ours. */
void dw_oracle_collection(void);

/* Compare what is on the heap. At the end of the program, before callbacks stop. */
void dw_oracle_heap(void);
