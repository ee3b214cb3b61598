/*
 * The handler of the sampler's signal.
 */
#pragma once

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

/* Take a free signal, and let the kernel call the handler for it. False: there is none, or the
 * kernel refuses. Inside the constructor. */
bool dw_tick_start(void);

/* Let the program have the signal, whose effect is @to (SIG_DFL or SIG_IGN) until it sets another,
 * and take one that suits the mask @mask of this thread. Without one sampling stops. */
void dw_tick_move(uint64_t mask, sighandler_t to);

/* Let the effect of @signal be @to, SIG_DFL or SIG_IGN, and drop what is pending of it. */
void dw_tick_give(int signal, sighandler_t to);

/* After dw_tick_give(): let @signal call the handler again. */
void dw_tick_retake(int signal);

/* The mask of this thread. */
uint64_t dw_tick_mask(void);
