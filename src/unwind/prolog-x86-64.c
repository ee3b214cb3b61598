/*
 * Prologs and epilogs; see prolog.h.
 *
 * Methods begin with pushes of the registers that they save, make room by one subtraction, and, if
 * they have a frame pointer, set it to where the caller's was pushed. Between that and their ends
 * the stack pointer stands still: room for arguments of calls is made once. They end by undoing
 * this, with a return or a jump; only jumps behind something undone count, others are loops.
 */
#include "unwind/prolog.h"

#include "wire/prolog-x86-64.h"

#include <string.h>

enum { FRAME_WORDS_MAX = INT16_MAX >> 2 };

static struct dw_cfi_row framed(void)
{
	return (struct dw_cfi_row){.cfa = 2 << 2 | DWELL_ROW_FP, .fp = -2};
}

/* The frame begins @words above the stack pointer, the caller's rbp was pushed as word number
 * @rbp below the return address, 0 = it was not. */
static struct dw_cfi_row frameless(int64_t words, int64_t rbp)
{
	if (words <= rbp || words > FRAME_WORDS_MAX)
		return framed();
	return (struct dw_cfi_row){.cfa = (int16_t)(words << 2 | DWELL_ROW_SP),
				   .fp = (int16_t)(rbp ? -1 - rbp : 0)};
}

/* Code that goes on for other code begins by fetching what that saved of the caller's. It has a
 * frame of its own once it has set its frame pointer, at an offset that may be out of sight. */
static struct dw_cfi_row continued(const uint8_t *prolog, size_t n, uint64_t offset)
{
	struct dw_code_reader r = {prolog, n};

	while (r.n && !dw_code_take_frame_pointer(&r)) {
		r.at++;
		r.n--;
	}
	if (offset < (uint64_t)(r.at - prolog))
		return framed();
	return (struct dw_cfi_row){.cfa = DWELL_ROW_COMPLEX << 2 | DWELL_ROW_SPECIAL};
}

struct dw_cfi_row dw_prolog_row(const uint8_t *prolog, size_t n, uint64_t offset,
				enum dw_frame_base base)
{
	struct dw_prolog p = dw_prolog_read(prolog, n, offset);

	if (p.is_continued)
		return continued(prolog, n, offset);
	return p.is_framed && base != DWELL_BASE_STACK ? framed() : frameless(p.words, p.rbp);
}

bool dw_epilog_row(const uint8_t *bytes, size_t n, struct dw_cfi_row *ret)
{
	struct dw_code_reader r = {bytes, n};
	int64_t words = 1, rbp = 0, room = 0;
	bool has_begun = false;
	int reg;

	DWELL_TAKE(&r, 0xc5, 0xf8, 0x77);
	if (dw_code_take_room(&r, 0xc4, &room)) {
		words += room / DWELL_WORD_BYTES;
		has_begun = true;
	}
	while ((reg = dw_code_take_register(&r, 0x58)) >= 0) {
		if (reg == DWELL_REG_RBP)
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
	ret->cfa = (int16_t)(words << 2 | DWELL_ROW_SP);
	ret->fp = (int16_t)(rbp ? rbp - words - 1 : 0);
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
	struct dw_code_reader r = {next.at, next.n};
	int64_t number;

	DWELL_TAKE_NUMBER(&r, 1, &number, 0x48, 0x83, 0xf9);
	DWELL_TAKE_NUMBER(&r, 1, &number, 0x7f);
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
	else if (offset == push + 1 || (next.n && next.at[0] == 0x50 + 8 + DWELL_REG_RBP))
		*ret = frameless(2, 1);
	return true;
}
