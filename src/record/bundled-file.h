/*
 * Files inside single-file programs of .NET, read from an open descriptor. One thread.
 */
#pragma once

#include "code/clr/assembly.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* The list of the program that was read last; {0} at first. */
struct dw_bundle_list {
	dev_t dev;
	ino_t ino;
	void *bytes; /* owned; NULL = it has none */
	size_t n;
};

enum { DWELL_READ_MAX = 64 << 20 }; /* bytes at once */

/* Read @n bytes of @fd at @at; the caller frees them. NULL = they are not there, are none or too
 * many, or no memory. */
void *dw_file_read(int fd, uint64_t at, uint64_t n);

/* Find the file called @name in the program @fd. False: it has none that is called so. What is
 * packed is unpacked into bytes of @ret, which the caller frees; else they stay NULL. @last saves
 * reading the list again. */
bool dw_bundled_file_find(struct dw_bundle_list *last, int fd, const char *name,
			  struct dw_pe_file *ret);

/* Free everything. */
void dw_bundle_list_release(struct dw_bundle_list *last);
