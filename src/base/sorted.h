/*
 * Binary search in sorted arrays.
 */
#pragma once

#include <stddef.h>

/*
 * How many elements at the start of the sorted array @v of @n fulfil @condition, an expression
 * about the element that @e points to: true up to there and false behind it.
 */
#define dw_sorted_count(v, n, e, condition)                         \
	({                                                          \
		size_t low_ = 0, high_ = (n);                       \
                                                                    \
		while (low_ < high_) {                              \
			size_t middle_ = low_ + (high_ - low_) / 2; \
			const __typeof__(*(v)) *e = &(v)[middle_];  \
                                                                    \
			if (condition)                              \
				low_ = middle_ + 1;                 \
			else                                        \
				high_ = middle_;                    \
		}                                                   \
		low_;                                               \
	})
