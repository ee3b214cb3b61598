/*
 * Functions that run for each event lie together, apart from all others: they then take few lines
 * of the processor's cache of instructions, and where they lie does not change with other code.
 * Beside the code of .NET's runtime for each object, which nearly fills that cache, an object cost
 * 10 % more or less by chance.
 */
#pragma once

#define DWELL_HOT __attribute__((hot))
