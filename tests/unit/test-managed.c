/* Managed code: frames by their first and last instructions, and which code lay where when. */
#include "check.h"

#include "collect/jit/code-map.h"
#include "unwind/prolog.h"

#include <stdlib.h>
#include <string.h>

#define BYTES(...) (const uint8_t[]){__VA_ARGS__}, sizeof((const uint8_t[]){__VA_ARGS__})

/* push rbp; push r15; push rbx; sub rsp, 24; lea rbp, [rsp + 32]; ... */
#define FRAMED                                                                                    \
	BYTES(0x55, 0x41, 0x57, 0x53, 0x48, 0x83, 0xec, 0x18, 0x48, 0x8d, 0x6c, 0x24, 0x20, 0x33, \
	      0xc0)
/* push rbp; push rbx; sub rsp, 8; rbp is a number; ... */
#define FRAMELESS BYTES(0x55, 0x53, 0x48, 0x83, 0xec, 0x08, 0x33, 0xed, 0x90, 0x90)
/* mov rax, [rbp]; push rax; mov rbp, rsp; ... */
#define CONTINUED BYTES(0x48, 0x8b, 0x45, 0x00, 0x50, 0x48, 0x8b, 0xec, 0x8b, 0x4d, 0x1c)

static bool is_row(struct dw_cfi_row row, int kind, int words, int rbp)
{
	return (row.cfa & 3) == kind && row.cfa >> 2 == words && row.fp == rbp;
}

TEST(prologs)
{
	enum dw_frame_base usual = DWELL_BASE_USUAL, stack = DWELL_BASE_STACK;

	CHECK(is_row(dw_prolog_row(FRAMED, 0, usual), DWELL_ROW_SP, 1, 0));
	CHECK(is_row(dw_prolog_row(FRAMED, 1, usual), DWELL_ROW_SP, 2, -2));
	CHECK(is_row(dw_prolog_row(FRAMED, 4, usual), DWELL_ROW_SP, 4, -2));
	CHECK(is_row(dw_prolog_row(FRAMED, 8, usual), DWELL_ROW_SP, 7, -2));
	CHECK(is_row(dw_prolog_row(FRAMED, 13, usual), DWELL_ROW_FP, 2, -2));
	CHECK(is_row(dw_prolog_row(FRAMED, UINT64_MAX, usual), DWELL_ROW_FP, 2, -2));
	CHECK(is_row(dw_prolog_row(FRAMED, UINT64_MAX, stack), DWELL_ROW_SP, 7, -2));
	CHECK(is_row(dw_prolog_row(FRAMELESS, UINT64_MAX, usual), DWELL_ROW_SP, 4, -2));
	CHECK(is_row(dw_prolog_row(BYTES(0xc3), UINT64_MAX, usual), DWELL_ROW_SP, 1, 0));
	/* push rbp; test [rsp - 4096], eax; sub rsp, 4128; lea rbp, [rsp + 4128] */
	CHECK(is_row(dw_prolog_row(BYTES(0x55, 0x85, 0x84, 0x24, 0x00, 0xf0, 0xff, 0xff, 0x48, 0x81,
					 0xec, 0x20, 0x10, 0x00, 0x00, 0x48, 0x8d, 0xac, 0x24, 0x20,
					 0x10, 0x00, 0x00, 0x33, 0xc0),
				   UINT64_MAX, stack),
		     DWELL_ROW_SP, 518, -2));
	/* push rbp; lea r11, [rsp - 6544]; call; mov rsp, r11; lea rbp, [rsp + 6544] */
	CHECK(is_row(dw_prolog_row(BYTES(0x55, 0x4c, 0x8d, 0x9c, 0x24, 0x70, 0xe6, 0xff, 0xff, 0xe8,
					 0x32, 0x44, 0xd6, 0x7c, 0x49, 0x8b, 0xe3, 0x48, 0x8d, 0xac,
					 0x24, 0x90, 0x19, 0x00, 0x00, 0x33, 0xc0),
				   UINT64_MAX, stack),
		     DWELL_ROW_SP, 820, -2));
	/* Before the frame pointer is set the other code's holds. */
	CHECK(is_row(dw_prolog_row(CONTINUED, 5, usual), DWELL_ROW_FP, 2, -2));
	CHECK(is_row(dw_prolog_row(CONTINUED, 8, usual), DWELL_ROW_SPECIAL, DWELL_ROW_COMPLEX, 0));
}

/* mov rax, [rbp]; push rax; sub rsp, 152; saves; lea rbp, [rsp + 192] */
static const uint8_t continued_wide[] = {
	0x48, 0x8b, 0x45, 0x00, 0x50, 0x48, 0x81, 0xec, 0x98, 0x00, 0x00, 0x00, 0x4c, 0x89, 0x7c,
	0x24, 0x70, 0x48, 0x89, 0x5c, 0x24, 0x68, 0x48, 0x8d, 0xac, 0x24, 0xc0, 0x00, 0x00, 0x00,
};

/* Wherever the bytes end, nothing behind them is looked at: what sets the frame pointer is out of
 * sight then. */
TEST(prologs_cut)
{
	for (size_t n = 5; n <= sizeof continued_wide; n++) {
		uint8_t *copy = malloc(n);
		struct dw_cfi_row inside, behind;

		memcpy(copy, continued_wide, n);
		inside = dw_prolog_row(copy, n, n - 1, DWELL_BASE_USUAL);
		behind = dw_prolog_row(copy, n, n, DWELL_BASE_USUAL);
		CHECK(is_row(inside, DWELL_ROW_FP, 2, -2));
		CHECK(is_row(behind, DWELL_ROW_SPECIAL, DWELL_ROW_COMPLEX, 0));
		free(copy);
	}
}

TEST(epilogs)
{
	struct dw_cfi_row row;

	/* add rsp, 24; pop rbx; pop rbp; ret */
	CHECK(dw_epilog_row(BYTES(0x48, 0x83, 0xc4, 0x18, 0x5b, 0x5d, 0xc3), &row));
	CHECK(is_row(row, DWELL_ROW_SP, 6, -2));
	CHECK(dw_epilog_row(BYTES(0xc3), &row));
	CHECK(is_row(row, DWELL_ROW_SP, 1, 0));
	/* pop rbp; jmp: to another method; a jump alone is a loop. */
	CHECK(dw_epilog_row(BYTES(0x5d, 0xe9, 0, 0, 0, 0), &row));
	CHECK(is_row(row, DWELL_ROW_SP, 2, -2));
	CHECK(!dw_epilog_row(BYTES(0xe9, 0, 0, 0, 0), &row));
	/* add eax, 1 */
	CHECK(!dw_epilog_row(BYTES(0x83, 0xc0, 0x01, 0xc3), &row));
	/* Cut, or more popped than there is room for. */
	CHECK(!dw_epilog_row(BYTES(0x48, 0x83, 0xc4), &row));
	CHECK(!dw_epilog_row(BYTES(0x48, 0x81, 0xc4, 0xff, 0xff, 0xff, 0x7f, 0xc3), &row));
	CHECK(!dw_epilog_row(BYTES(0x48, 0x83, 0xc4, 0xf8, 0xc3), &row));
	CHECK(!dw_epilog_row(BYTES(0x5b, 0x5d), &row));
}

static bool put_code(struct dw_code_map *m, uint64_t start, uint32_t bytes, uint64_t since_ns)
{
	static uint32_t row;
	const struct dw_code_piece piece = {start, start + bytes, since_ns, ++row};

	return !dw_code_map_add(m, &piece);
}

static uint32_t row_at(const struct dw_code_map *m, uint64_t avma, uint64_t time_ns)
{
	const struct dw_code_piece *p = dw_code_map_find(m, avma, time_ns);

	return p ? p->row : 0;
}

TEST(code_at_times)
{
	struct dw_code_map m = {0};

	CHECK(put_code(&m, 0x3000, 0x100, 10)); /* 1 */
	CHECK(put_code(&m, 0x1000, 0x100, 20)); /* 2 */
	CHECK(!dw_code_map_merge(&m));
	CHECK(put_code(&m, 0x10c0, 0x80, 30)); /* 3: over the end of 2 */
	CHECK(put_code(&m, 0x2000, 0x10, 40)); /* 4 */
	CHECK(!dw_code_map_merge(&m));
	CHECK_INT(row_at(&m, 0x3000, 10), 1);
	CHECK_INT(row_at(&m, 0x30ff, 99), 1);
	CHECK_INT(row_at(&m, 0x3100, 99), 0);
	CHECK_INT(row_at(&m, 0x3000, 9), 0);
	CHECK_INT(row_at(&m, 0x10d0, 29), 2);
	CHECK_INT(row_at(&m, 0x10d0, 30), 3);
	CHECK_INT(row_at(&m, 0x200f, 99), 4);
	CHECK_INT(m.changes.n, 1);
	CHECK_INT(m.changes.v[0], 30);
	/* What was told late was there before. */
	m.told_late = true;
	CHECK_INT(row_at(&m, 0x3000, 9), 1);
	CHECK_INT(row_at(&m, 0x10d0, 9), 2);
	CHECK_INT(row_at(&m, 0x10d0, 30), 3);
	dw_code_map_release(&m);
}

TEST_MAIN()
