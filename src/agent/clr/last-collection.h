/*
 * A last collection when the runtime ends, so that what is alive then is what is in use, not what
 * has not been collected yet.
 */
#pragma once

#include <stdbool.h>

/*
 * Have the runtime collect all generations, and wait for that: for the callback that says it ends.
 * Objects whose finalizers have yet to run stay. False: it was refused, or did not end in time.
 */
bool dw_last_collection(void);
