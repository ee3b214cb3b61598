/*
 * Telling the collector what this process has mapped: it may be gone before it can be asked.
 */
#pragma once

/* Tell it, if the loader has loaded or dropped anything since it was told last. From the
 * constructor or the destructor. */
void dw_maps_tell(void);
