/*
 * How methods of managed code begin (the .NET runtime's compilers): read by the unwinder from
 * outside and by the agent inside, which must see the same.
 *
 * Methods begin with pushes of the registers that they save, make room by one subtraction, and, if
 * they have a frame pointer, set it to where the caller's was pushed. Pure; an instruction is taken
 * whole or not at all, so nothing behind the bytes is read. [any-thread] [async-signal-safe]
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { DWELL_REG_RBP = 5, DWELL_REG_R12 = 12, DWELL_WORD_BYTES = 8 };

/* Code that is being read. */
struct dw_code_reader {
	const uint8_t *at; /* borrowed */
	size_t n;
};

/* Take the @n bytes at @bytes with the signed number of @size bytes (0, 1 or 4) behind them. False:
 * they are not all there, and nothing is taken. */
static inline bool dw_code_take_bytes(struct dw_code_reader *r, const uint8_t *bytes, size_t n,
				      size_t size, int64_t *ret)
{
	uint32_t value = 0, sign = size ? 1u << (8 * size - 1) : 0;

	if (r->n < n + size || __builtin_memcmp(r->at, bytes, n) != 0)
		return false;
	__builtin_memcpy(&value, r->at + n, size);
	*ret = (int64_t)(value ^ sign) - sign;
	r->at += n + size;
	r->n -= n + size;
	return true;
}

#define DWELL_TAKE_NUMBER(r, size, ret, ...)                  \
	dw_code_take_bytes(r, (const uint8_t[]){__VA_ARGS__}, \
			   sizeof((const uint8_t[]){__VA_ARGS__}), size, ret)
#define DWELL_TAKE(r, ...) DWELL_TAKE_NUMBER(r, 0, &(int64_t){0}, __VA_ARGS__)

/* A push or pop, whose first register's code is @base: the register. -1 = it is none. */
static inline int dw_code_take_register(struct dw_code_reader *r, uint8_t base)
{
	size_t prefix = r->n > 1 && r->at[0] == 0x41;
	int reg;

	if (r->n <= prefix || (r->at[prefix] & 0xf8) != base)
		return -1;
	reg = (r->at[prefix] & 7) + (prefix ? 8 : 0);
	r->at += prefix + 1;
	r->n -= prefix + 1;
	return reg;
}

/* "sub rsp" (@reg 0xec) or "add rsp" (0xc4): by how much. */
static inline bool dw_code_take_room(struct dw_code_reader *r, uint8_t reg, int64_t *ret)
{
	return DWELL_TAKE_NUMBER(r, 1, ret, 0x48, 0x83, reg) ||
	       DWELL_TAKE_NUMBER(r, 4, ret, 0x48, 0x81, reg);
}

/* Room that a prolog makes: more than a page is touched first, here or by what is called. */
static inline bool dw_code_take_frame_room(struct dw_code_reader *r, int64_t *ret)
{
	struct dw_code_reader at = *r;
	int64_t skip;

	while (DWELL_TAKE_NUMBER(&at, 4, &skip, 0x85, 0x84, 0x24)) /* test [rsp + N], eax */
		;
	if (dw_code_take_room(&at, 0xec, ret)) {
		*r = at;
		return true;
	}
	/* lea r11, [rsp - N]; call; mov rsp, r11 */
	if (!DWELL_TAKE_NUMBER(&at, 4, ret, 0x4c, 0x8d, 0x9c, 0x24) ||
	    !DWELL_TAKE_NUMBER(&at, 4, &skip, 0xe8) || !DWELL_TAKE(&at, 0x49, 0x8b, 0xe3))
		return false;
	*ret = -*ret;
	*r = at;
	return true;
}

/* The instruction that sets the frame pointer. */
static inline bool dw_code_take_frame_pointer(struct dw_code_reader *r)
{
	int64_t skip;

	return DWELL_TAKE(r, 0x48, 0x8b, 0xec) || DWELL_TAKE(r, 0x48, 0x89, 0xe5) ||
	       DWELL_TAKE_NUMBER(r, 1, &skip, 0x48, 0x8d, 0x6c, 0x24) ||
	       DWELL_TAKE_NUMBER(r, 4, &skip, 0x48, 0x8d, 0xac, 0x24);
}

/* What the beginning of a method does to the stack. */
struct dw_prolog {
	int64_t words;	/* from the stack pointer to the frame's end, the return address included */
	int64_t rbp;	/* the caller's was pushed as this word below the return address, 0 = not */
	bool is_framed; /* the frame pointer is set to where the caller's was pushed */
	bool is_continued; /* it goes on for other code of the method, by whose frame pointer it is
			      entered: nothing else here counts */
};

/* Whether the rest of a prolog, at @r, sets the frame pointer before @offset. */
static inline bool dw_prolog_sets_frame_pointer(struct dw_code_reader *r, const uint8_t *code,
						uint64_t offset)
{
	DWELL_TAKE(r, 0xc5, 0xf8, 0x77); /* vzeroupper */
	return (uint64_t)(r->at - code) < offset && dw_code_take_frame_pointer(r);
}

/* What a method that begins with the @n bytes at @code has done when it is at @offset. What the
 * bytes do not show is taken as a method with a frame pointer. */
static inline struct dw_prolog dw_prolog_read(const uint8_t *code, size_t n, uint64_t offset)
{
	struct dw_code_reader r = {code, n};
	struct dw_prolog p = {.words = 1};
	bool has_pointer = false;
	int64_t room = 0;
	int reg;

	if (DWELL_TAKE(&r, 0x48, 0x8b, 0x45, 0x00)) {
		p.is_continued = true;
		return p;
	}
	while ((uint64_t)(r.at - code) < offset) {
		reg = dw_code_take_register(&r, 0x50);
		if (reg < 0)
			break;
		if (reg == DWELL_REG_RBP && !p.rbp)
			p.rbp = p.words;
		/* Where it is no pointer it is pushed in its turn, behind this one. */
		has_pointer |= reg >= DWELL_REG_R12 && p.rbp && p.rbp == p.words - 1;
		p.words++;
	}
	if ((uint64_t)(r.at - code) < offset && dw_code_take_frame_room(&r, &room))
		p.words += room / DWELL_WORD_BYTES;
	/* What is out of sight or not known sets the frame pointer. */
	p.is_framed = p.rbp && (dw_prolog_sets_frame_pointer(&r, code, offset) ||
				(offset >= n && (has_pointer || !r.n)));
	return p;
}
