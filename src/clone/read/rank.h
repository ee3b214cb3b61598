/*
 * A set of addresses that tells in constant time how many of its members lie at or below an
 * address: which function, which instruction.
 *
 * One bit for each byte of a span of code, and one count for each 64 of them: a binary search for
 * each of the millions of branches and operands of a large program would cost more than decoding
 * it. Immutable once counted: any thread may ask.
 */
#pragma once

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

struct dw_rank {
	uint64_t base; /* svma of the first bit */
	uint64_t n;    /* bytes of code in the span */
	uint64_t *bits;
	uint32_t *before; /* members below each word of bits */
};

/* Bits set in @word. Compilers call a function for it where the processor may lack popcnt. */
static inline uint32_t dw_rank_bits(uint64_t word)
{
	word -= word >> 1 & 0x5555555555555555u;
	word = (word & 0x3333333333333333u) + (word >> 2 & 0x3333333333333333u);
	word = (word + (word >> 4)) & 0x0f0f0f0f0f0f0f0fu;
	return (uint32_t)(word * 0x0101010101010101u >> 56);
}

/* Make an empty set for [@base, @base + @n). 0 or -ENOMEM. dw_rank_release() in any case. */
static inline int dw_rank_init(struct dw_rank *r, uint64_t base, uint64_t n)
{
	*r = (struct dw_rank){.base = base, .n = n};
	r->bits = calloc(n / 64 + 1, sizeof *r->bits);
	r->before = calloc(n / 64 + 1, sizeof *r->before);
	return r->bits && r->before ? 0 : -ENOMEM;
}

/* Count the members, after the last dw_rank_add(). */
static inline void dw_rank_count(struct dw_rank *r)
{
	uint32_t sum = 0;

	for (uint64_t i = 0; i <= r->n / 64; i++) {
		r->before[i] = sum;
		sum += dw_rank_bits(r->bits[i]);
	}
}

/* Remove all members. */
static inline void dw_rank_clear(struct dw_rank *r)
{
	memset(r->bits, 0, (r->n / 64 + 1) * sizeof *r->bits);
}

/* Free the memory. */
static inline void dw_rank_release(struct dw_rank *r)
{
	free(r->bits);
	free(r->before);
	*r = (struct dw_rank){0};
}

/* Add @svma, which lies in the span. */
static inline void dw_rank_add(struct dw_rank *r, uint64_t svma)
{
	r->bits[(svma - r->base) / 64] |= 1ull << (svma - r->base) % 64;
}

/* Add the members of [base + 64 * @word, + 64) whose bits are set, other threads adding too. */
static inline void dw_rank_add_word(struct dw_rank *r, uint64_t word, uint64_t bits)
{
	if (bits & ~__atomic_load_n(&r->bits[word], __ATOMIC_RELAXED))
		__atomic_fetch_or(&r->bits[word], bits, __ATOMIC_RELAXED);
}

/* Add @svma, which lies in the span, other threads adding too. */
static inline void dw_rank_add_shared(struct dw_rank *r, uint64_t svma)
{
	dw_rank_add_word(r, (svma - r->base) / 64, 1ull << (svma - r->base) % 64);
}

/* Whether @svma is a member. */
static inline bool dw_rank_has(const struct dw_rank *r, uint64_t svma)
{
	return svma - r->base < r->n && r->bits[(svma - r->base) / 64] >> (svma - r->base) % 64 & 1;
}

/* The number of members at or below @svma, which lies in the span. */
static inline uint32_t dw_rank_at(const struct dw_rank *r, uint64_t svma)
{
	uint64_t at = svma - r->base;

	return r->before[at / 64] + dw_rank_bits(r->bits[at / 64] & ((2ull << at % 64) - 1));
}
