/*
 * What of the processor neutral code asks for: its registers by their DWARF numbers, those that
 * unwinding follows under names that all processors have, and where a call leaves the return
 * address.
 *
 * Each processor has a folder here, which nobody else includes, and the files called
 * NAME-PROCESSOR.c, which meson.build chooses.
 */
#pragma once

#if defined(__x86_64__)
#include "arch/x86-64/registers.h"
#else
#error "no folder in src/arch/ is about this processor"
#endif
