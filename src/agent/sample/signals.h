/*
 * The sampler's signal as the program sees it: as if nobody used it.
 */
#pragma once

/* Somebody has sent the sampler's signal @signal: let it have its plain effect.
 * [async-signal-safe] */
void dw_signal_from_others(int signal);
