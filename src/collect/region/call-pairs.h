/*
 * Nodes and what the system did in them, as of one moment.
 *
 * They stand on lines far apart, and a reading takes its time, more where the collector waits for a
 * processor: what was charged to both meanwhile would be in one of them only. Where that is more
 * than the other has risen the difference would be lost for good, as values that were given are not
 * taken back: time that the program waited would be its own.
 */
#pragma once

#include "collect/region/call-lines.h"

/*
 * Read both lines of all nodes and cells once more that the last reading found changed and whose
 * program's time may so be wrong by more than a fraction of a millisecond. What nodes have risen
 * whose record was made after its line was read is left to the next reading, unless this one
 * @is_last. 0 or -ENOMEM.
 */
int dw_call_pairs_read(struct dw_call_lines *s, bool is_last);
