/*
 * Telling the collector what code this process has mapped: it may be gone before it can be asked.
 * Samples look for names in what is told next after them, too, so libraries are told of when they
 * are about to go. [async-signal-safe]
 */
#pragma once

/* Tell it. Reads a file of /proc: some 50 us, more where a thousand things are mapped. */
void dw_maps_tell(void);

/* Tell it if anything was sampled since it was told last. */
void dw_maps_tell_of_samples(void);
