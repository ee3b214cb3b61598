/*
 * Typed growable arrays, sorting and searching: DW_VEC(struct thing) things = {0};
 * dw_vec_push(&things, x).
 *
 * A zero-initialised one is empty. Growth is overflow-checked. Pointers into an array are
 * borrowed until it grows. Not for sharing between threads.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#define DW_VEC(type)        \
	struct {            \
		type *v;    \
		size_t n;   \
		size_t cap; \
	}

/* Room for @need elements of @size bytes in the array at *@pv with capacity *@cap. 0 or -ENOMEM;
 * contents kept either way. */
int dw_vec_grow(void **pv, size_t *cap, size_t need, size_t size);

/* Room for @more elements behind the contents. 0 or -ENOMEM. */
#define dw_vec_reserve(vec, more)                                                       \
	((vec)->cap - (vec)->n >= (more) ? 0                                            \
					 : dw_vec_grow((void **)&(vec)->v, &(vec)->cap, \
						       (vec)->n + (more), sizeof *(vec)->v))

/* Append one element. 0 or -ENOMEM. */
#define dw_vec_push(vec, ...)                                 \
	({                                                    \
		int dw_rc_ = dw_vec_reserve(vec, 1);          \
		if (!dw_rc_)                                  \
			(vec)->v[(vec)->n++] = (__VA_ARGS__); \
		dw_rc_;                                       \
	})

/* for (each element pointer). */
#define dw_vec_each(p, vec) \
	for (__auto_type p = (vec)->n ? (vec)->v : NULL; p && p < (vec)->v + (vec)->n; p++)

/* Free the array and leave it empty. */
#define dw_vec_release(vec)                \
	({                                 \
		free((vec)->v);            \
		(vec)->v = NULL;           \
		(vec)->n = (vec)->cap = 0; \
	})

/* A row to be sorted: digit by digit, in time that grows with the rows alone. qsort() takes several
 * times as long for the addresses of a large module. */
struct dw_sort_row {
	uint64_t key;
	size_t row; /* the caller's */
};

/* Sort the @n @rows by their keys, equal ones stay in their order. 0 or -ENOMEM. */
int dw_sort_rows(struct dw_sort_row *rows, size_t n);

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
