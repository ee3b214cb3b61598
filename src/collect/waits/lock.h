/*
 * Who has the lock that a thread waits for: locks of glibc's say so themselves.
 *
 * A mutex is waited for at its first word; behind it stand who has it and how many threads use it.
 * A lock that inherits priorities has its owner in the word that is waited for (futex(2)). All else
 * tells nobody: other C libraries' and runtimes' locks, reader-writer locks, conditions.
 */
#pragma once

#include "target/proc.h"

#include <sys/types.h>

/*
 * The thread that has what a thread of @pid waits for at @place, as the program knows it: in a pid
 * namespace of its own by another number than here. 0 = nobody knows. Reads 20 bytes of the
 * program's memory, which may say anything. [any-thread]
 */
pid_t dw_lock_holder(pid_t pid, const struct dw_task_place *place);
