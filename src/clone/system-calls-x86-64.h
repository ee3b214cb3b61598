/*
 * System calls in the code itself: which of them get gates. Those where the stack below rsp is
 * free (free-stack-x86-64.h).
 */
#pragma once

#include "clone/module.h"

/*
 * Set DWELL_MARK_SYSTEM_CALL in images with such probes. With DWELL_PROBES_SYSTEM_CALLS functions
 * without marks get DWELL_LEFT_NOT_CHOSEN. After dw_clone_choose(). 0 or -ENOMEM.
 */
int dw_system_calls_find(struct dw_clone_module *m);

/* Count the system calls in m->system_calls and m->system_calls_left, after the last reason. */
void dw_system_calls_count(struct dw_clone_module *m);
