/*
 * Reading JSON (RFC 8259) as a page asks with it: foreign bytes, so sizes and depth are bounded.
 *
 * Values stand in one array in the order of the text; index 0 is none. Strings have no NUL, but may
 * be no UTF-8; numbers are kept as they were written, too. One thread; read-only once it was made.
 */
#pragma once

#include "base/buf.h"
#include "base/error.h"
#include "base/vec.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	DWELL_JSON_DEPTH_MAX = 16,
	DWELL_JSON_VALUES_MAX = 1 << 16,
	DWELL_JSON_BYTES_MAX = 1 << 20,
};

enum dw_json_kind {
	DWELL_JSON_NULL = 0,
	DWELL_JSON_FALSE,
	DWELL_JSON_TRUE,
	DWELL_JSON_NUMBER,
	DWELL_JSON_STRING,
	DWELL_JSON_ARRAY,
	DWELL_JSON_OBJECT,
};

struct dw_json_value {
	enum dw_json_kind kind;
	uint32_t next;	/* its neighbour, 0 = the last one */
	uint32_t first; /* of an array or object, 0 = empty */
	size_t key;	/* of a member: where that begins in the texts, else SIZE_MAX */
	size_t text;	/* of a string or a number, likewise */
};

struct dw_json {
	DW_VEC(struct dw_json_value) values;
	struct dw_buf texts; /* a NUL behind each */
};

/* Read @n bytes at @text, one value. 0; DWELL_ERR_FORMAT (@err says what and where); -ENOMEM. To be
 * released in any case. */
int dw_json_read(struct dw_json *j, const char *text, size_t n, struct dw_error *err);

/* The value at @i, which is there. */
static inline const struct dw_json_value *dw_json_at(const struct dw_json *j, uint32_t i)
{
	return &j->values.v[i];
}

/* The whole. */
static inline const struct dw_json_value *dw_json_root(const struct dw_json *j)
{
	return dw_json_at(j, 1);
}

/* The member @key of @object, the last one of several. NULL: there is none, or it is null, or
 * @object is none (NULL is fine). */
const struct dw_json_value *dw_json_get(const struct dw_json *j, const struct dw_json_value *object,
					const char *key);

/* A string, or a number as it was written. NULL for all else, and for NULL. */
const char *dw_json_text(const struct dw_json *j, const struct dw_json_value *v);

/* A whole number from 0 on. False for all else, and for NULL. */
bool dw_json_whole(const struct dw_json *j, const struct dw_json_value *v, uint64_t *ret);

/* Free everything. */
void dw_json_release(struct dw_json *j);
