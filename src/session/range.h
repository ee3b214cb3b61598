/*
 * What part of a session's time is loaded.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* A range of time, since the start of the recording. Zero-initialised: all of it. */
struct dw_session_range {
	uint64_t from_ns;
	uint64_t to_ns; /* 0 = no end */
};

/* Whether it is all of the time. */
static inline bool dw_session_range_is_all(const struct dw_session_range *range)
{
	return !range->from_ns && !range->to_ns;
}
