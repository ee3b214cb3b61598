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

/* Where import @i of the module leads; a pointer into the module itself is not filled in yet. */
static uint32_t module_of_import(uint32_t module, uint32_t i)
{
	const struct dw_area *area = area_of(module);
	const struct dw_clone_import *import;
	uint32_t found;

	if (!area || i >= area->header->imports.n)
		return UINT32_MAX;
	import = (const struct dw_clone_import *)(area->area + area->header->imports.at) + i;
	if (!import->slot)
		return module;
	found = module_around(*(const uint64_t *)(area->module + import->slot));
	return found == module ? UINT32_MAX : found;
}

uint32_t dw_module_of_key(uint64_t key)
{
	const struct dw_region_header *region = dw_agent_region();

	if (key & DWELL_KEY_ADDRESS)
		return module_around(key & ~DWELL_KEY_ADDRESS);
	for (uint32_t i = 0; i < dw_probe.module_n; i++) {
		uint64_t index = key - region->modules[i].first_id;
		const struct dw_area *area = area_of(i);

		if (!region->modules[i].first_id || index >= region->modules[i].ids_n)
			continue;
		if (!area || index < area->header->functions.n)
			return i;
		return module_of_import(i, (uint32_t)index - area->header->functions.n);
	}
	return UINT32_MAX;
}
