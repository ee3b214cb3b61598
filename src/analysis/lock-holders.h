/*
 * Where those were who had a lock while others waited for it.
 *
 * A row of OTHERS_WAITED without a stack stands for one long wait, or for short ones while the
 * holder ran. What this thread did meanwhile, its samples and in long waits its own waits, says
 * where it was.
 */
#pragma once

#include "model/profile.h"

/*
 * Divide the rows of OTHERS_WAITED of @p that have no stack among the stacks that their threads had
 * in their time. Where nothing is known of a thread then, they stay as they are. To do so again
 * changes nothing. 0 or -ENOMEM. One thread.
 */
int dw_locate_lock_holders(struct dw_profile *p);
