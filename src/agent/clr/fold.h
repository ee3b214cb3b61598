/*
 * Recursion folded out of a stack, for when memory runs short: the shortest way from its outermost
 * frame to its innermost that has all frames and all calls of the stack, each once at least. Sums
 * by function, line and call are those of the whole stack.
 */
#pragma once

#include <stdint.h>

/* Fold the @n frames at @frames, outermost first, in place. How many are left. */
uint32_t dw_fold(uint32_t *frames, uint32_t n);
