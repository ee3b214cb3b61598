/*
 * Which dwell makes images, so that those of another build are made anew.
 */
#pragma once

#include <stdint.h>

enum { DWELL_MAKER_BYTES = 20 };

/* Write the build-id of the running program to @id, without one, a hash of its size and date. */
void dw_clone_maker(uint8_t id[DWELL_MAKER_BYTES]);
