/* ELF files and loaded images from anywhere: all that the reader offers is asked for. */
#include "base/cleanup.h"
#include "code/elf/needed.h"

#include <stdint.h>

DW_DEFINE_FREEP(dw_elf)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void ask(const uint8_t *data, size_t size, bool loaded)
{
	dw_auto_ptr(dw_elf) elf = NULL;
	size_t segments_n, sections_n, n;
	struct dw_elf_needed needed;
	uint8_t id[64];
	uint64_t bias;

	if (dw_elf_open_bytes(data, size, loaded, &elf, NULL))
		return;
	const struct dw_elf_segment *segments = dw_elf_segments(elf, &segments_n);
	const struct dw_elf_section *sections = dw_elf_sections(elf, &sections_n);

	dw_elf_build_id(elf, id, sizeof id);
	dw_elf_section(elf, ".text");
	dw_elf_code_bytes(elf);
	dw_elf_needed_read(elf, &needed);
	dw_elf_needed_release(&needed);
	for (size_t i = 0; i < segments_n && i < 64; i++) {
		dw_elf_read_svma(elf, segments[i].svma, id, sizeof id);
		dw_elf_bias(elf, (struct dw_avma){0x1000}, segments[i].offset, &bias);
	}
	for (size_t i = 0; i < sections_n && i < 64; i++) {
		uint8_t *bytes = NULL;

		if (!dw_elf_read_section(elf, &sections[i], &bytes, &n, NULL) && bytes[n])
			__builtin_trap();
		free(bytes);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	ask(data, size, false);
	ask(data, size, true);
	return 0;
}
