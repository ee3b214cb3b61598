/*
 * A map from pairs of numbers to numbers, of one thread.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct dw_word {
	uint64_t a;
	uint32_t b;
	uint32_t value; /* 0 = unused */
};

struct dw_words {
	struct dw_word *all; /* NULL = none yet */
	uint64_t mask;	     /* places, less one */
	uint64_t n;
};

/* The value of @a, @b, to be set when it is 0: then it is new, and counts as there once set. Good
 * until the next call. NULL = no memory. */
uint32_t *dw_words_at(struct dw_words *w, uint64_t a, uint32_t b);

/* Take all away. */
void dw_words_clear(struct dw_words *w);
