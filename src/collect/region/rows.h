/*
 * Rows that are found by a key: a vector of them, and a map from key to index + 1.
 */
#pragma once

#include "base/map.h"
#include "base/vec.h"

/* The row of @vec that @map has under @key, a zeroed one added where there is none. Borrowed until
 * the next. NULL without memory. */
#define dw_row_of(vec, map, key)                                                 \
	({                                                                       \
		const uint64_t dw_key_ = (key);                                  \
		uint32_t dw_row_ = dw_map_get(map, dw_key_);                     \
                                                                                 \
		if (!dw_row_ && !dw_vec_push(vec, (__typeof__(*(vec)->v)){0})) { \
			dw_row_ = (uint32_t)(vec)->n;                            \
			if (dw_map_put(map, dw_key_, dw_row_)) {                 \
				(vec)->n--;                                      \
				dw_row_ = 0;                                     \
			}                                                        \
		}                                                                \
		dw_row_ ? &(vec)->v[dw_row_ - 1] : NULL;                         \
	})
