/*
 * Prologs and epilogs; see prolog-x86-64.h.
 *
 * Methods begin with pushes of the registers that they save, make room by one subtraction, and, if
 * they have a frame pointer, set it to where the caller's was pushed. Between that and their ends
 * the stack pointer stands still: room for arguments of calls is made once. They end by undoing
 * this, with a return or a jump; only jumps behind something undone count, others are loops.
 */
#include "unwind/prolog-x86-64.h"

#include <string.h>

enum {
	REG_RBP = 5,
	REG_R12 = 12,
	WORD = 8,
	FRAME_WORDS_MAX = INT16_MAX >> 2,
};

struct reader {
	const uint8_t *at;
	size_t n;
};

/* Take the @n bytes at @bytes with the signed number of @size bytes (0, 1 or 4) behind them. False:
 * they are not all there, and nothing is taken. */
static bool take(struct reader *r, const uint8_t *bytes, size_t n, size_t size, int64_t *ret)
{
	uint32_t value = 0, sign = size ? 1u << (8 * size - 1) : 0;

	if (r->n < n + size || memcmp(r->at, bytes, n) != 0)
		return false;
	memcpy(&value, r->at + n, size);
	*ret = (int64_t)(value ^ sign) - sign;
	r->at += n + size;
	r->n -= n + size;
	return true;
}

#define TAKE_NUMBER(r, size, ret, ...) \
	take(r, (const uint8_t[]){__VA_ARGS__}, sizeof((const uint8_t[]){__VA_ARGS__}), size, ret)
#define TAKE(r, ...) TAKE_NUMBER(r, 0, &(int64_t){0}, __VA_ARGS__)

/* A push or pop, whose first register's code is @base: the register. -1 = it is none. */
static int take_register(struct reader *r, uint8_t base)
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
static bool take_room(struct reader *r, uint8_t reg, int64_t *ret)
{
	return TAKE_NUMBER(r, 1, ret, 0x48, 0x83, reg) || TAKE_NUMBER(r, 4, ret, 0x48, 0x81, reg);
}

/* The instruction that sets the frame pointer. */
static bool take_frame_pointer(struct reader *r)
{
	int64_t skip;

	return TAKE(r, 0x48, 0x8b, 0xec) || TAKE(r, 0x48, 0x89, 0xe5) ||
	       TAKE_NUMBER(r, 1, &skip, 0x48, 0x8d, 0x6c, 0x24) ||
	       TAKE_NUMBER(r, 4, &skip, 0x48, 0x8d, 0xac, 0x24);
}

static struct dw_cfi_row framed(void)
{
	return (struct dw_cfi_row){.cfa = 2 << 2 | DWELL_ROW_RBP, .rbp = -2};
}

/* The frame begins @words above the stack pointer, the caller's rbp was pushed as word number
 * @rbp below the return address, 0 = it was not. */
static struct dw_cfi_row frameless(int64_t words, int64_t rbp)
{
	if (words <= rbp || words > FRAME_WORDS_MAX)
		return framed();
	return (struct dw_cfi_row){.cfa = (int16_t)(words << 2 | DWELL_ROW_RSP),
				   .rbp = (int16_t)(rbp ? -1 - rbp : 0)};
}

/* Code that goes on for other code begins by fetching what that saved of the caller's. It has a
 * frame of its own once it has set its frame pointer, at an offset that may be out of sight. */
static struct dw_cfi_row continued(struct reader r, const uint8_t *prolog, uint64_t offset)
{
	while (r.n && !take_frame_pointer(&r)) {
		r.at++;
		r.n--;
	}
	if (offset < (uint64_t)(r.at - prolog))
		return framed();
	return (struct dw_cfi_row){.cfa = DWELL_ROW_COMPLEX << 2 | DWELL_ROW_SPECIAL};
}

/* Whether the rest of a prolog, at @r, sets the frame pointer before @offset. */
static bool sets_frame_pointer(struct reader *r, const uint8_t *prolog, uint64_t offset)
{
	TAKE(r, 0xc5, 0xf8, 0x77); /* vzeroupper */
	return (uint64_t)(r->at - prolog) < offset && take_frame_pointer(r);
}

struct dw_cfi_row dw_prolog_row(const uint8_t *prolog, size_t n, uint64_t offset,
				enum dw_frame_base base)
{
	struct reader r = {prolog, n};
	int64_t words = 1, rbp = 0, room = 0;
	bool has_pointer = false;
	int reg;

	if (TAKE(&r, 0x48, 0x8b, 0x45, 0x00))
		return continued(r, prolog, offset);
	while ((uint64_t)(r.at - prolog) < offset) {
		reg = take_register(&r, 0x50);
		if (reg < 0)
			break;
		if (reg == REG_RBP && !rbp)
			rbp = words;
		/* Where it is no pointer it is pushed in its turn, behind this one. */
		has_pointer |= reg >= REG_R12 && rbp && rbp == words - 1;
		words++;
	}
	if ((uint64_t)(r.at - prolog) < offset && take_room(&r, 0xec, &room))
		words += room / WORD;
	if (base == DWELL_BASE_STACK)
		return frameless(words, rbp);
	/* What is out of sight or not known sets the frame pointer. */
	if (rbp &&
	    (sets_frame_pointer(&r, prolog, offset) || (offset >= n && (has_pointer || !r.n))))
		return framed();
	return frameless(words, rbp);
}

bool dw_epilog_row(const uint8_t *bytes, size_t n, struct dw_cfi_row *ret)
{
	struct reader r = {bytes, n};
	int64_t words = 1, rbp = 0, room = 0;
	bool has_begun = false;
	int reg;

	TAKE(&r, 0xc5, 0xf8, 0x77);
	if (take_room(&r, 0xc4, &room)) {
		words += room / WORD;
		has_begun = true;
	}
	while ((reg = take_register(&r, 0x58)) >= 0) {
		if (reg == REG_RBP)
			rbp = words;
		words++;
		has_begun = true;
	}
	if (words > FRAME_WORDS_MAX || room < 0 || !r.n)
		return false;
	/* A return, or a jump elsewhere: to an address, through memory or a register. */
	if (r.at[0] != 0xc3 && !(has_begun && (r.at[0] == 0xe9 || r.at[0] == 0xff)) &&
	    !(r.n > 1 && r.at[0] == 0x48 && r.at[1] == 0xff && has_begun))
		return false;
	ret->cfa = (int16_t)(words << 2 | DWELL_ROW_RSP);
	ret->rbp = (int16_t)(rbp ? rbp - words - 1 : 0);
	return true;
}

/* Where @begin pushes rbp and makes it the frame pointer. False: it does not. */
static bool find_push(struct dw_code_bytes begin, uint64_t *ret)
{
	static const uint8_t forms[][4] = {{0x55, 0x48, 0x89, 0xe5}, {0x55, 0x48, 0x8b, 0xec}};

	for (size_t i = 0; i + sizeof forms[0] <= begin.n; i++) {
		if (!memcmp(begin.at + i, forms[0], sizeof forms[0]) ||
		    !memcmp(begin.at + i, forms[1], sizeof forms[1])) {
			*ret = i;
			return true;
		}
	}
	return false;
}

/* Whether @next returns, after a look at the number of arguments at most (V8: cmp rcx, N; jg). */
static bool returns(struct dw_code_bytes next)
{
	struct reader r = {next.at, next.n};
	int64_t number;

	TAKE_NUMBER(&r, 1, &number, 0x48, 0x83, 0xf9);
	TAKE_NUMBER(&r, 1, &number, 0x7f);
	return r.n && (r.at[0] == 0xc3 || r.at[0] == 0xc2);
}

bool dw_framed_row(struct dw_code_bytes begin, uint64_t offset, struct dw_code_bytes next,
		   struct dw_cfi_row *ret)
{
	uint64_t push;

	if (!find_push(begin, &push))
		return false;
	*ret = (struct dw_cfi_row){.cfa = DWELL_ROW_NONE << 2 | DWELL_ROW_SPECIAL};
	if (offset <= push || returns(next))
		*ret = frameless(1, 0);
	else if (offset == push + 1 || (next.n && next.at[0] == 0x50 + 8 + REG_RBP))
		*ret = frameless(2, 1);
	return true;
}
