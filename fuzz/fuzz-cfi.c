/*
 * Unwind information from anywhere: compiled, looked up at each row, and walked over a stack that
 * is part of the input.
 *
 * Input: 4 bytes with the number of bytes of .eh_frame, then these, then .debug_frame. Both are put
 * into an ELF image around which nothing is wrong, so that the fuzzer's changes reach the parser.
 */
#include "base/cleanup.h"
#include "code/cfi/fdes.h"
#include "code/cfi/table-format.h"
#include "code/cfi/table.h"
#include "code/elf/elf.h"
#include "elf-image.h"
#include "unwind/unwind.h"

#include <stdint.h>
#include <string.h>

DW_DEFINE_FREEP(dw_elf)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { MAX_BYTES = 1 << 20, MAX_FRAMES = 256, STEPS = 64 };

/* Look @t up around its rows: the row must be the right one, the full rules may say anything. */
static void look_up(const struct dw_cfi_table *t)
{
	uint32_t step = t->starts_n / STEPS + 1;

	for (uint32_t i = 0; i < t->starts_n; i += step) {
		uint64_t svma = dw_cfi_table_start_svma(t, i);
		struct dw_cfi_range range;
		struct dw_cfi_rules rules;
		bool signal;

		if (dw_cfi_table_find(t, svma) != &t->rows[t->starts[i].row])
			__builtin_trap();
		if (i && dw_cfi_table_start_svma(t, i - 1) >= svma)
			__builtin_trap();
		dw_cfi_table_find(t, svma - 1);
		dw_cfi_table_rules(t, svma, &rules, &signal);
		if (!dw_cfi_table_range(t, svma, &range) &&
		    (svma < range.start || svma >= range.end))
			__builtin_trap();
	}
}

/* Walk over the input itself as the stack, from some addresses of the module. */
static void walk(const struct dw_cfi_table *t, const uint8_t *data, size_t size)
{
	static struct dw_unwind_frame frames[MAX_FRAMES];
	struct dw_space space = {0};
	struct dw_space_range code = {.end = ~(uint64_t)0, .module = 1, .cfi = t};
	uint32_t step = t->starts_n / STEPS + 1;

	dw_space_map(&space, &code);
	for (uint32_t i = 0; i < t->starts_n; i += step) {
		struct dw_unwind_memory memory = {.base = 0x10000, .bytes = data, .n = size};
		struct dw_unwind_regs regs = {0};
		size_t n = 0;

		for (unsigned r = 0; r < DWELL_REG_COUNT; r++)
			regs.r[r] = 0x10000 + r * 8;
		regs.r[DWELL_REG_PC] = dw_cfi_table_start_svma(t, i);
		dw_unwind(&space, &regs, &memory, frames, MAX_FRAMES, &n);
		if (!n || n > MAX_FRAMES)
			__builtin_trap();
	}
	dw_space_release(&space);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	dw_auto_ptr(dw_elf) elf = NULL;
	dw_auto_free uint8_t *image = NULL;
	dw_auto_free struct dw_cfi_range *ranges = NULL;
	struct dw_cfi_table *t = NULL;
	uint32_t eh_n;
	size_t n;

	if (size < sizeof eh_n || size > MAX_BYTES)
		return 0;
	memcpy(&eh_n, data, sizeof eh_n);
	eh_n = eh_n < size - 4 ? eh_n : (uint32_t)(size - 4);
	image = elf_image_make(data + 4, eh_n, data + 4 + eh_n, size - 4 - eh_n, &n);
	if (!image || dw_elf_open_bytes(image, n, false, &elf, NULL))
		return 0;
	if (!dw_cfi_ranges(elf, &ranges, &n, NULL))
		dw_cfi_range_find(ranges, n, 0x1234);
	if (dw_cfi_table_load(elf, NULL, &t, NULL))
		return 0;
	look_up(t);
	walk(t, data, size);
	dw_cfi_table_free(t);
	return 0;
}
