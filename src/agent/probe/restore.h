/*
 * A module runs by itself again, when the recording is over.
 *
 * Its text becomes its file's, as it was before the patches, all at once; a task that is in a clone
 * then stays there until it returns. A fork copies no page tables of unchanged text, while those of
 * a patched library made the children of servers cost half as much again.
 */
#pragma once

#include "agent/probe/probe.h"

/*
 * Put the file's text in the place of @area's module's, if that differs from it by our patches
 * only: then @area->is_restored. Where the file cannot be opened any more the patches stay. Inside
 * dw_agent_enter().
 */
void dw_restore_module(struct dw_area *area);
