/*
 * Code from anywhere as the beginning and the end of a method: looked at from each of its bytes it
 * gives a row that an unwinder can follow.
 *
 * The code ends where memory ends, so that a read past it ends the replay without a sanitizer, too.
 */
#include "unwind/prolog.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { PAGE = 4096, MAX_BYTES = 64 };

/* @n bytes of @data, with no memory behind them. */
static const uint8_t *at_end(const uint8_t *data, size_t n)
{
	static uint8_t *page;

	if (!page) {
		page = mmap(NULL, 2ul * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
			    -1, 0);
		if (page == MAP_FAILED || mprotect(page + PAGE, PAGE, PROT_NONE))
			abort();
	}
	if (n)
		memcpy(page + PAGE - n, data, n);
	return page + PAGE - n;
}

/* A frame is above the stack pointer, and what was saved of the caller's lies in it. */
static void check_row(struct dw_cfi_row row)
{
	int words = row.cfa >> 2;

	switch (row.cfa & 3) {
	case DWELL_ROW_SP:
		if (words < 1 || row.fp > 0 || row.fp == -1 || row.fp < -words)
			abort();
		break;
	case DWELL_ROW_FP:
		if (words != 2 || row.fp != -2)
			abort();
		break;
	default:
		if (row.cfa != (DWELL_ROW_COMPLEX << 2 | DWELL_ROW_SPECIAL) &&
		    row.cfa != (DWELL_ROW_NONE << 2 | DWELL_ROW_SPECIAL))
			abort();
	}
}

static void look_from(struct dw_code_bytes code, uint64_t offset)
{
	struct dw_code_bytes next = {0};
	struct dw_cfi_row row;

	if (offset <= code.n)
		next = (struct dw_code_bytes){code.at + offset, code.n - offset};
	check_row(dw_prolog_row(code.at, code.n, offset, DWELL_BASE_USUAL));
	check_row(dw_prolog_row(code.at, code.n, offset, DWELL_BASE_STACK));
	if (dw_epilog_row(next.at, next.n, &row))
		check_row(row);
	if (dw_framed_row(code, offset, next, &row))
		check_row(row);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	size_t n = size < MAX_BYTES ? size : MAX_BYTES;
	struct dw_code_bytes code = {at_end(data, n), n};

	for (uint64_t offset = 0; offset <= n + 1; offset++)
		look_from(code, offset);
	look_from(code, UINT64_MAX);
	return 0;
}
