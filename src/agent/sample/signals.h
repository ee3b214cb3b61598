/*
 * The sampler's signal as the program sees it: as if nobody used it.
 */
#pragma once

#include <signal.h>
#include <stdbool.h>

/* Somebody has sent the sampler's signal @signal, which has interrupted a thread whose mask is
 * @mask then: let it have its plain effect. [async-signal-safe] */
void dw_signal_from_others(int signal, siginfo_t *info, sigset_t *mask);

/* Sampling has ended: let the program have the signal. [async-signal-safe] */
void dw_signals_end(void);

/* The calling thread is about to execute a program, or (not @is_so) has failed to: that inherits
 * what this program has set. [async-signal-safe] */
void dw_signals_execute(bool is_so);
