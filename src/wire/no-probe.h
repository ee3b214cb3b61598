/*
 * What stands in clones where a probe was: of the same length, so that a task may be anywhere in
 * the probe when it goes.
 */
#pragma once

#include <stdint.h>

enum {
	DWELL_PROBE_LOAD_BYTES = 10, /* that put rax away and load a number */
	DWELL_PROBE_BYTES = 15,	     /* with the call of the trampoline */
	DWELL_PROBE_CALL_BYTES = DWELL_PROBE_BYTES - DWELL_PROBE_LOAD_BYTES,
};

/*
 * For a probe whose argument is a number: one nop, which reads no memory. Its last five bytes may
 * be the load of rax for who comes from the argument's, and from the fifth on it is a nop, too, for
 * who has only put rax away.
 */
static const uint8_t dw_no_probe[DWELL_PROBE_BYTES] = {
	0x66, 0x66, 0x66, 0x66, 0x66, 0x66, 0x2e, 0x0f, 0x1f, 0x84, 0x48, 0x8b, 0x44, 0x24, 0xf0};

/* For a trampoline's call that has no argument. */
static const uint8_t dw_no_call[DWELL_PROBE_CALL_BYTES] = {0x0f, 0x1f, 0x44, 0, 0};

/* How a probe begins whose argument is a number, up to the byte that loads it. */
static const uint8_t dw_probe_put_away[] = {0x48, 0x89, 0x44, 0x24, 0xf0, 0xb8};
