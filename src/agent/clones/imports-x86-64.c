/*
 * Imports: what keys of call trees mean inside the target, and where clones call them; see
 * clones.h.
 *
 * Keys are read from the region's modules and the areas' imports: few, looked through one by one.
 * Pointers that the loader fills lie in the module, which is there as long as its area is not
 * closed. A probe of an import has `mov $index, %eax` before its trampoline call, where index
 * counts functions and imports.
 */
#include "agent/clones/clones.h"
#include "agent/core/agent.h"
#include "agent/core/memory.h"
#include "wire/call-tree.h"

/* The module that is loaded around @address. */
static uint32_t module_around(uint64_t address)
{
	const struct dw_region_header *region = dw_agent_region();

	for (uint32_t i = 0; i < dw_probe.module_n; i++)
		if (address - region->modules[i].start < region->modules[i].bytes &&
		    region->modules[i].state != DWELL_MODULE_CLOSED)
			return i;
	return UINT32_MAX;
}

static const struct dw_area *area_of(uint32_t region_module)
{
	for (uint32_t i = 0; i < dw_probe.area_n; i++)
		if (dw_probe.areas[i].region_module == region_module &&
		    !dw_probe.areas[i].is_closed)
			return &dw_probe.areas[i];
	return NULL;
}

/* The pointer through which import @i of @area is called, 0 = there is none. */
static uint64_t pointer_of(const struct dw_area *area, uint32_t i)
{
	const struct dw_clone_import *imports =
		(const struct dw_clone_import *)(area->area + area->header->imports.at);

	return i < area->header->imports.n && imports[i].slot
		       ? *(const uint64_t *)(area->module + imports[i].slot)
		       : 0;
}

/* The module that @key is of, by index in the region; UINT32_MAX = none. @*ret_index is the
 * function's in it, or functions.n and more for imports. */
static uint32_t find_key(uint64_t key, uint32_t *ret_index)
{
	const struct dw_region_header *region = dw_agent_region();

	for (uint32_t i = 0; i < dw_probe.module_n; i++) {
		uint64_t index = key - region->modules[i].first_id;

		*ret_index = (uint32_t)index;
		if (region->modules[i].first_id && index < region->modules[i].ids_n)
			return i;
	}
	return UINT32_MAX;
}

uint64_t dw_address_of_key(uint64_t key)
{
	const struct dw_area *area;
	uint32_t index, module;

	if (key & DWELL_KEY_ADDRESS)
		return key & ~DWELL_KEY_ADDRESS;
	module = find_key(key, &index);
	area = module == UINT32_MAX ? NULL : area_of(module);
	return area && index >= area->header->functions.n
		       ? pointer_of(area, index - area->header->functions.n)
		       : 0;
}

uint32_t dw_module_of_key(uint64_t key)
{
	uint64_t address = dw_address_of_key(key);
	uint32_t index, module = address ? module_around(address) : UINT32_MAX, own;

	if (key & DWELL_KEY_ADDRESS)
		return module;
	own = find_key(key, &index);
	if (!address)
		return own;
	return module == own ? UINT32_MAX : module; /* not looked up yet */
}

/* Call @put with each call of an import and its site. */
static void each(const struct dw_area *area, void (*put)(void *ctx, uint32_t import, uint32_t site),
		 void *ctx)
{
	static const enum dw_trampoline trampolines[] = {DWELL_TRAMPOLINE_OUT,
							 DWELL_TRAMPOLINE_TAIL};
	const struct dw_clone_header *h = area->header;

	for (uint32_t i = 0; i < sizeof trampolines / sizeof *trampolines; i++) {
		const struct dw_clone_part *list = &h->trampoline_calls[trampolines[i]];
		const uint32_t *at = (const uint32_t *)(area->area + list->at), *end = at + list->n;
		uint32_t index;

		for (; at < end; at++) {
			if (*at - h->code_at >= h->code_bytes || *at - h->code_at < sizeof index)
				continue;
			__builtin_memcpy(&index, (const void *)(area->area + *at - sizeof index),
					 sizeof index);
			if (index - h->functions.n < h->imports.n)
				put(ctx, index - h->functions.n,
				    *at | (trampolines[i] == DWELL_TRAMPOLINE_TAIL
						   ? DWELL_SITE_IS_TAIL
						   : 0));
		}
	}
}

/* first[] becomes the number of sites of the import before. */
static void count(void *ctx, uint32_t import, uint32_t site)
{
	struct dw_import_sites *s = ctx;

	(void)site;
	s->first[import + 1]++;
}

/* first[], which is where the import's next site goes, becomes where its sites end. */
static void put(void *ctx, uint32_t import, uint32_t site)
{
	struct dw_import_sites *s = ctx;

	s->at[s->first[import]++] = site;
}

bool dw_import_sites_list(struct dw_import_sites *s, const struct dw_area *area)
{
	const struct dw_clone_header *h = area->header;
	uint64_t sites = (uint64_t)h->trampoline_calls[DWELL_TRAMPOLINE_OUT].n +
			 h->trampoline_calls[DWELL_TRAMPOLINE_TAIL].n;
	uint32_t n = h->imports.n;

	if (s->first)
		return true;
	s->bytes = (n + 1 + sites) * sizeof *s->at;
	s->first = dw_agent_memory(s->bytes);
	if (!s->first)
		return false;
	s->at = s->first + n + 1;
	each(area, count, s);
	for (uint32_t i = 0; i < n; i++)
		s->first[i + 1] += s->first[i];
	each(area, put, s);
	for (uint32_t i = n; i > 0; i--)
		s->first[i] = s->first[i - 1];
	s->first[0] = 0;
	return true;
}

const uint32_t *dw_import_sites_of(const struct dw_import_sites *s, uint32_t import,
				   const uint32_t **end)
{
	*end = s->at + s->first[import + 1];
	return s->at + s->first[import];
}

void dw_import_sites_release(struct dw_import_sites *s)
{
	dw_agent_memory_free(s->first, s->bytes);
	*s = (struct dw_import_sites){0};
}
