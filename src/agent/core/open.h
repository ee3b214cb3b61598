/*
 * What is open while a thread is in a system call, told in the region: a call that the process or
 * the recording ends in has no event after it, and the shadow stack is the target's own memory.
 *
 * For the thread itself, in its slow path. An activation is written once, as long as it only waits
 * for its callee: a call costs as many as have come since the call before, DWELL_OPEN_MAX at most.
 */
#pragma once

#include "agent/core/thread.h"

/* A system call that counts begins: let the region have what is open on the current stack. */
void dw_open_tell(struct dw_thread *t);
