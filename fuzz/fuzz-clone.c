/*
 * Clone images of any file: making one must end well or in an error, and the verifier must find
 * nothing in what was made. Also the verifier with an image that is damaged.
 *
 * Input: an ELF file; byte 15, padding of its identification, says which probes are asked for (bits
 * 0 and 7), whether short functions have them too (bit 1) and where the image is damaged (bits 2 to
 * 7). Where bits 2 to 6 are not 0, probes of statements are asked for too, all over the code.
 */
#include "base/cleanup.h"
#include "clone/clone.h"
#include "clone/verify/verify.h"
#include "code/elf/elf.h"

#include <elf.h>
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

DW_DEFINE_FREEP(dw_elf)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { OPTIONS_AT = 15, LINES_MASK = 0x7c, MAX_BYTES = 1 << 17, LONG_NAME = 3000 };

/* Names of all lengths, and none. */
static const char *name(void *ctx, uint64_t svma)
{
	static char all[LONG_NAME + 1];
	const uint64_t hash = svma * 0x9e3779b97f4a7c15u >> 40;

	(void)ctx;
	memset(all, 'n', LONG_NAME);
	return hash % 3 ? all + (hash % 5 ? LONG_NAME - hash % 40 : hash % LONG_NAME) : NULL;
}

/* Change some byte of the image, which the verifier may find or not. */
static void damage(const struct dw_elf *elf, uint8_t *image, size_t n, uint8_t how)
{
	struct dw_verify_result result;
	size_t at = (size_t)how * 0x9e3779b1u % n;

	image[at] ^= (uint8_t)(1 << how % 8);
	dw_clone_verify(elf, image, n, &result, NULL);
}

/* Ask for statements in all segments of code: @how says at which addresses. */
static int make_lines(const struct dw_elf *elf, uint8_t how, struct dw_clone_options *options)
{
	size_t segments, n = 0;
	const struct dw_elf_segment *s = dw_elf_segments(elf, &segments);
	struct dw_clone_line *lines = calloc(MAX_BYTES, sizeof *lines);

	if (!lines)
		return -ENOMEM;
	for (size_t i = 0; i < segments; i++)
		for (uint64_t k = 0;
		     s[i].flags & PF_X && k < s[i].file_bytes && k < MAX_BYTES && n < MAX_BYTES;
		     k++) {
			uint64_t svma = s[i].svma.v + k, hash = svma * (how | 1u);

			if ((!n || lines[n - 1].svma < svma) && hash % 5 < 2)
				lines[n++] = (struct dw_clone_line){svma, hash % 7};
		}
	options->lines = lines;
	options->lines_n = n;
	return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const uint32_t kinds[] = {DWELL_PROBES_NONE, DWELL_PROBES_COUNT,
					 DWELL_PROBES_SYSTEM_CALLS, DWELL_PROBES_TIME};
	struct dw_clone_options options = {.name = name};
	struct dw_verify_result result;
	dw_auto_ptr(dw_elf) elf = NULL;
	dw_auto_free uint8_t *image = NULL;
	dw_auto_free struct dw_clone_line *lines = NULL;
	size_t n;

	if (size <= OPTIONS_AT || size > MAX_BYTES ||
	    dw_elf_open_bytes(data, size, false, &elf, NULL))
		return 0;
	options.probes = kinds[(data[OPTIONS_AT] & 1) | (data[OPTIONS_AT] >> 6 & 2)];
	options.all_functions = data[OPTIONS_AT] & 2;
	if (data[OPTIONS_AT] & LINES_MASK && make_lines(elf, data[OPTIONS_AT], &options))
		return 0;
	lines = (struct dw_clone_line *)options.lines;
	if (dw_clone_make(elf, &options, &image, &n, NULL))
		return 0;
	if (dw_clone_verify(elf, image, n, &result, NULL) || result.findings_n) {
		fprintf(stderr, "%#lx, clone at %#x: %s\n", (unsigned long)result.findings[0].svma,
			result.findings[0].clone_at, result.findings[0].text);
		abort();
	}
	damage(elf, image, n, data[OPTIONS_AT] >> 2);
	return 0;
}
