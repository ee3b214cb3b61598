/*
 * Jitdump: the file in which a runtime tells what code it made, when, from which lines, and where
 * it moved it. Foreign bytes of this machine's byte order and processor; names are borrowed from
 * them. [any-thread]
 */
#pragma once

#include "base/cursor.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum dw_jitdump_kind {
	DWELL_JITDUMP_LOAD,
	DWELL_JITDUMP_MOVE,
	DWELL_JITDUMP_DEBUG, /* lines of the code that is loaded next */
	DWELL_JITDUMP_CLOSE,
	DWELL_JITDUMP_UNWINDING, /* of the code that is loaded next */
};

enum { DWELL_JITDUMP_HEADER_BYTES = 40 };

struct dw_jitdump_header {
	uint32_t bytes;	     /* the first record stands there */
	bool has_other_time; /* times are no nanoseconds of CLOCK_MONOTONIC */
	bool is_v8;
};

struct dw_jitdump_record {
	uint32_t kind; /* enum dw_jitdump_kind, or one that is not known */
	uint64_t bytes;
	uint64_t time_ns;
	/* Of DWELL_JITDUMP_LOAD and DWELL_JITDUMP_MOVE: [start, start + code_bytes), not empty. */
	uint64_t start, code_bytes;
	uint64_t index;	  /* of the code, unique */
	const char *name; /* of DWELL_JITDUMP_LOAD */
	size_t name_n;
};

/* Read the header. 0, DWELL_ERR_FORMAT, or DWELL_ERR_UNSUPPORTED: of another machine or version. */
int dw_jitdump_header_read(const void *bytes, size_t n, struct dw_jitdump_header *ret);

/*
 * Read the record of which the first @n bytes are at @bytes; @left are in the file from there on.
 * 0, and ret->bytes leads to the next; -EAGAIN: it is not whole yet; DWELL_ERR_FORMAT: nothing
 * behind it can be found. A record that makes no sense has kind DWELL_JITDUMP_CLOSE.
 */
int dw_jitdump_record_read(const void *bytes, size_t n, uint64_t left,
			   struct dw_jitdump_record *ret);

/* From an address on. */
struct dw_jitdump_line {
	uint64_t avma;
	uint32_t line, column;
	const char *file;
	size_t file_n;
};

/* Reading of one record of lines. */
struct dw_jitdump_lines {
	struct dw_cursor c;
	uint64_t left;
	struct dw_jitdump_line last;
	uint32_t shift;
};

/* Begin with the @n bytes at @record, a DWELL_JITDUMP_DEBUG, in a file with @header. */
void dw_jitdump_lines_init(struct dw_jitdump_lines *l, const void *record, size_t n,
			   const struct dw_jitdump_header *header);

/* The next line. False: there is none. */
bool dw_jitdump_lines_next(struct dw_jitdump_lines *l, struct dw_jitdump_line *ret);
