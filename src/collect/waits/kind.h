/*
 * What a thread waits for, by where it entered the kernel.
 *
 * The system call and its arguments tell, for input and output the descriptor, for poll() and
 * select() of one descriptor this. A futex says no more than whether it is a lock of the C
 * library's: the functions on the stack tell the rest, once they have names
 * (analysis/wait-kinds.h). Linux, any processor. [any-thread]
 */
#pragma once

#include "model/wait.h"
#include "target/proc.h"

#include <sys/types.h>

/* What a thread of @pid that is at @place waits for. Reads /proc and up to 128 bytes of the
 * program's memory. What cannot be read tells nothing. */
enum dw_wait_kind dw_wait_kind_at(pid_t pid, const struct dw_task_place *place);
