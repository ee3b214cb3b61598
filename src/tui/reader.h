/*
 * The reader: a session on the full screen, from the first look to the last key.
 */
#pragma once

#include "base/error.h"
#include "tui/reading.h"

/*
 * Read a session on the terminal at stdin and stdout until its user has enough.
 * *@ret_signal: what ended it instead, 0 = nothing; the terminal is as it was before.
 * Returns 0; errors of dw_reading_open(); -ENOTTY: the terminal is not known.
 */
int dw_reader_run(const struct dw_reading_start *start, int *ret_signal, struct dw_error *err);
