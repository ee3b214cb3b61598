/*
 * A typed growable array: DW_VEC(struct thing) things = {0}; dw_vec_push(&things, x).
 *
 * Zero-initialised is empty. Growth doubles and is overflow-checked. Pointers into the array are
 * borrowed until it grows. Not for sharing between threads.
 */
#pragma once

#include <stddef.h>
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
