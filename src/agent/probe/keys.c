/*
 * Keys; see keys.h. Read from the region's modules and the areas' imports: few, looked through one
 * by one. Pointers that the loader fills lie in the module, which is there as long as its area is
 * not closed.
 */
#include "agent/probe/keys.h"

#include "agent/core/agent.h"
#include "agent/probe/state.h"
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
