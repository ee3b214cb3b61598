/*
 * Putting a clone image beside its module. Inside dw_agent_enter() only.
 */
#pragma once

#include "agent/clones/clones.h"

#include <elf.h>

/* A loaded module, as the loader tells it. Its headers must stay mapped while it is used. */
struct dw_module {
	uint64_t bias; /* avma - svma */
	const Elf64_Phdr *headers;
	uint32_t headers_n;
	uint64_t start;		/* avma of the lowest segment's page */
	uint64_t bytes;		/* to the end of the highest segment's page */
	const Elf64_Phdr *code; /* the one executable segment; NULL = none or several */
};

/* What the loader tells of a module, in our words. */
struct dw_module dw_module_read(uint64_t bias, const Elf64_Phdr *headers, uint32_t headers_n);

/*
 * Map the image at @path beside @m and let the module run from it. @is_alone: no other task can run
 * its code, nor can a child. The module's state for the region: DWELL_MODULE_CLONED, or why not,
 * with *@error the errno of DWELL_MODULE_REFUSED.
 */
uint32_t dw_area_open(const struct dw_module *m, const char *path, bool is_alone,
		      uint32_t region_module, uint32_t *error);

/* Forget @area, whose module is unmapped: its range is given back. */
void dw_area_close(struct dw_area *area);

struct dl_find_object;

/* The real _dl_find_object() for the agent's own ends: whether a module holds @pc, which *@ret is
 * of. */
bool dw_real_find_object(uint64_t pc, struct dl_find_object *ret);
