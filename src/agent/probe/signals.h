/*
 * Signal handlers of the program: how they are called.
 */
#pragma once

#include <signal.h>
#include <stdint.h>

/* Where handler @i enters, by DWELL_SIGNAL_ENTRY_BYTES; in signals-x86-64.S. */
extern const char dw_signal_entries[] __attribute__((visibility("hidden")));

enum { DWELL_SIGNAL_ENTRY_BYTES = 16 };

/*
 * Call the program's handler @i with original addresses in its context. What the entries jump to,
 * on the stack that the kernel has chosen. [async-signal-safe]
 */
void dw_signal_run(int signal, siginfo_t *info, void *context, uint32_t i);
