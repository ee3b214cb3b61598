/*
 * The memory of a running process, read without stopping it (process_vm_readv).
 *
 * What is read may change at any moment; callers check what must hold. [any-thread]
 */
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/*
 * Copy [@addr, @addr + @n) of @pid to @buf, as far as it is readable from its start on. The number
 * of bytes copied, or -errno (-ESRCH gone, -EPERM, -EFAULT nothing readable there).
 */
ssize_t dw_memory_read(pid_t pid, uint64_t addr, void *buf, size_t n);
