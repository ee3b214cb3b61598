/*
 * The columns that struct dw_call_values has in a chunk, in the order of docs/session-format.md.
 */
#pragma once

enum dw_call_column {
	DWELL_STORED_CALLS,
	DWELL_STORED_ELAPSED,
	DWELL_STORED_APPLICATION, /* elapsed minus it, zigzag-coded */
	DWELL_STORED_WHOLE,	  /* application minus it, likewise */
	DWELL_STORED_OVERHEAD,
	DWELL_STORED_BLOCKED,
	DWELL_STORED_OS_CPU,
	DWELL_STORED_SWITCHES,
	DWELL_STORED_IO_CALLS,
	DWELL_STORED_BLOCKING_CALLS,
	DWELL_STORED_COLUMNS
};
