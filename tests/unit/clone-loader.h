/*
 * Put a clone image beside a loaded module of this process, as the agent does: for tests of images
 * in one process. At the distance that the image wishes for plus @moved bytes; rights as the image
 * has them.
 */
#pragma once

#include "wire/clone-image.h"

#include <stdbool.h>
#include <string.h>
#include <sys/mman.h>

struct loaded_image {
	uint8_t *area;
	const struct dw_clone_header *h;
};

static inline void loader_relocate(const struct loaded_image *l, const uint8_t *module)
{
	int64_t d = (int64_t)(l->area - module) - l->h->distance;

	for (int kind = 0; kind < 4; kind++) {
		const struct dw_clone_part *part = &l->h->relocations[kind];
		const uint32_t *at = (const void *)(l->area + part->at);

		for (uint32_t i = 0; i < part->n; i++) {
			uint8_t *p = l->area + at[i];
			int64_t add = kind == DWELL_RELOC_TO_MODULE ? -d : d;
			uint64_t word;

			if (kind == DWELL_RELOC_AREA_64) {
				if (!l->h->fixed_start)
					add = (int64_t)(uintptr_t)l->area;
				memcpy(&word, p, 8);
				word += (uint64_t)add;
				memcpy(p, &word, 8);
			} else {
				uint32_t half;

				memcpy(&half, p, 4);
				half += (uint32_t)add;
				memcpy(p, &half, 4);
			}
		}
	}
}

/* False when a byte to be patched is not the image's. */
static inline bool loader_patch(const struct loaded_image *l, uint8_t *module)
{
	const struct dw_clone_patch *p = (const void *)(l->area + l->h->patches.at);

	for (uint32_t i = 0; i < l->h->patches.n; i++) {
		uint8_t *at = module + p[i].at;
		int32_t distance = (int32_t)(l->area + p[i].target - (at + 5));
		size_t n = p[i].kind == DWELL_PATCH_HOP ? 2 : 5;

		if (memcmp(at, p[i].old, n))
			return false;
		at[0] = n == 2 ? 0xeb : 0xe9;
		if (n == 2)
			at[1] = (uint8_t)p[i].target;
		else
			memcpy(at + 1, &distance, sizeof distance);
	}
	return true;
}

/* What the agent does where counting is not possible. */
typedef void loader_slow_fn(uint64_t area, uint32_t function);

/*
 * Load @image beside the module whose lowest page is at @module. @counts = calls[] for its
 * trampolines, NULL: they call @slow. False: no room, or it is not this module's.
 */
static inline bool loader_load(const uint8_t *image, uint8_t *module, int64_t moved,
			       uint64_t *counts, loader_slow_fn *slow, struct loaded_image *l)
{
	const struct dw_clone_header *h = (const void *)(image + DWELL_CLONE_HEADER_OFFSET);
	uint64_t *wiped, *constants;

	l->area = mmap(module + h->distance + moved, h->bytes, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
	if (l->area == MAP_FAILED)
		return false;
	memcpy(l->area, image, h->bytes);
	l->h = (const void *)(l->area + DWELL_CLONE_HEADER_OFFSET);
	wiped = (void *)(l->area + h->wiped_at);
	wiped[DWELL_WIPED_COUNTS] = (uintptr_t)counts;
	constants = (void *)(l->area + h->constants_at);
	constants[DWELL_CONSTANT_SLOW_COUNT] = (uintptr_t)slow;
	loader_relocate(l, module);
	if (mprotect(l->area + h->code_at, h->code_bytes, PROT_READ | PROT_EXEC) ||
	    mprotect(module, h->module_bytes, PROT_READ | PROT_WRITE | PROT_EXEC))
		return false;
	return loader_patch(l, module);
}
