/*
 * Facts of a session: what a reader must know to trust the numbers. Named values, text or integers.
 *
 * Keys are snake_case and documented in docs/session-format.md; times are integer nanoseconds (key
 * ends in _ns).
 */
#pragma once

#include "base/vec.h"

#include <stdbool.h>
#include <stdint.h>

struct dw_fact {
	char *key;  /* owned */
	char *text; /* owned; NULL = an integer */
	int64_t integer;
};

struct dw_facts {
	DW_VEC(struct dw_fact) rows; /* in order of first setting */
};

/* Set @key to a text, replacing what it had. 0 or -ENOMEM. */
int dw_facts_set_text(struct dw_facts *t, const char *key, const char *text);

/* Set @key to an integer, replacing what it had. 0 or -ENOMEM. */
int dw_facts_set(struct dw_facts *t, const char *key, int64_t value);

/* The integer under @key, or @otherwise when absent or a text. */
int64_t dw_facts_get(const struct dw_facts *t, const char *key, int64_t otherwise);

/* The text under @key, borrowed. NULL when absent or an integer. */
const char *dw_facts_get_text(const struct dw_facts *t, const char *key);

/* Free everything. */
void dw_facts_release(struct dw_facts *t);
