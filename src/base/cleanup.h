/*
 * Scope-bound ownership on top of __attribute__((cleanup)), so that early returns cannot leak.
 *
 * dw_auto_free and dw_auto_close go before a declaration; dw_auto(type) declares a "struct type"
 * whose type_release() runs at the end of the scope, dw_auto_ptr(type) a "struct type *" for
 * type_free().
 */
#pragma once

#include <stdlib.h>
#include <unistd.h>

/* Free what *@p points to. The cleanup handler behind dw_auto_free. */
static inline void dw_cleanup_free(void *p)
{
	free(*(void **)p);
}

/* Close *@fd if it is open. The cleanup handler behind dw_auto_close. */
static inline void dw_cleanup_close(int *fd)
{
	if (*fd >= 0)
		close(*fd);
}

#define dw_auto_free	  __attribute__((cleanup(dw_cleanup_free)))
#define dw_auto_close	  __attribute__((cleanup(dw_cleanup_close)))
#define dw_auto(type)	  __attribute__((cleanup(type##_release))) struct type
#define dw_auto_ptr(type) __attribute__((cleanup(type##_freep))) struct type *

/* Define type_freep(), which dw_auto_ptr(type) needs, from type_free(). */
#define DW_DEFINE_FREEP(type)                            \
	static inline void type##_freep(struct type **p) \
	{                                                \
		type##_free(*p);                         \
	}

/* Take the value out of a pointer variable and leave NULL, so that its owner is the caller. */
#define dw_take_ptr(p)                       \
	({                                   \
		__auto_type dw_taken_ = (p); \
		(p) = NULL;                  \
		dw_taken_;                   \
	})

/* Take a descriptor out of its variable and leave -1. */
#define dw_take_fd(fd)                \
	({                            \
		int dw_taken_ = (fd); \
		(fd) = -1;            \
		dw_taken_;            \
	})
