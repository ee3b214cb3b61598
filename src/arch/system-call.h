/*
 * A system call made directly: dw_syscall6(number, six arguments) returns what the kernel does, a
 * value or -errno. No libc, so no errno, no cancellation point, no interposer. [async-signal-safe]
 * [any-thread]
 */
#pragma once

#if defined(__x86_64__)
#include "arch/x86-64/system-call.h"
#else
#error "no folder in src/arch/ is about this processor"
#endif
