/*
 * The probing agent: modules that run from their clones.
 *
 * modules.c finds the modules (at start, after dlopen, gone after dlclose); area.c maps an image
 * beside its module and relocates it; text-x86-64.c patches the module's entries; lookup.c
 * translates addresses between the two; timing.c and count.c are what the gates call when they
 * cannot go on, calibrate.c finds what these cost, mute-x86-64.c switches them off, and
 * finish-x86-64.c and restore-x86-64.c all of them at the end;
 * half-way-x86-64.c, line-half-way-x86-64.c and shown-x86-64.c let signal handlers see the program
 * as it is without gates; unwind.c shows the clones to unwinders; the rest stands in for functions
 * that would show clone addresses to the program (signals.c, loader-calls.c, backtrace.c) or that
 * change text (protect.c). No decoder, no parser of foreign formats.
 */
#pragma once

#include "agent/probe/import-sites.h"
#include "wire/clone-image.h"
#include "wire/region.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { DWELL_PAGE_BYTES = 4096 };

/*
 * A module that runs from its clones. Published whole; never moved; reused only for the same
 * module, closed and opened again. The last fields are written inside dw_agent_enter() only.
 */
struct dw_area {
	uint64_t module; /* avma of the module's start */
	uint64_t module_bytes;
	uint64_t text; /* avma of the executable segment that holds its functions */
	uint64_t text_bytes;
	uint64_t area; /* avma, also of struct dw_clone_header - DWELL_CLONE_HEADER_OFFSET */
	uint64_t bytes;
	const struct dw_clone_header *header;
	void *link_map;		/* the loader's name for the module */
	uint32_t region_module; /* index in the region */
	bool is_closed;		/* dlclosed: matches nothing */
	bool is_final;		/* its image cannot be written to any more: all measuring is over */
	bool may_change;	/* code of files has been changed in this process, as its image's */
	bool has_own_tables;	/* what follows the code of its image has been relocated, too */
	uint32_t seen;		/* the last walk over the loader's list that found the module */
	bool is_restored; /* the module has its own text: all its functions run from it again */
	uint8_t *left;	  /* bit n: function n runs from the module again; NULL = none does */
	uint64_t *counts; /* calls[], NULL until the first call */
	int32_t *places;  /* counted.h's, by function and import, NULL = none */
	uint8_t *muted;	  /* mute.h's, NULL = nothing is */
	struct dw_import_sites sites; /* mute.h's */
	uint64_t ret; /* avma of a `ret` in the module, 0 = not looked for, 1 = none */
	char image[DWELL_REGION_PATH];
};

/* The area that starts at @at. NULL = none. [async-signal-safe] [any-thread] */
struct dw_area *dw_area_at(uint64_t at);

/* The area that holds @pc (a clone's address). NULL = none. [async-signal-safe] [any-thread] */
const struct dw_area *dw_area_of_clone(uint64_t pc);

/* The area whose module's range holds @pc (an original address). NULL = none. [async-signal-safe]
 */
const struct dw_area *dw_area_of_module(uint64_t pc);

/*
 * The original address of @pc when it lies in a clone, else @pc: inside an instruction's clone, the
 * address of that instruction. With @is_return, @pc is a return address: the address behind the
 * call. [async-signal-safe] [any-thread]
 */
uint64_t dw_original(uint64_t pc, bool is_return);

/*
 * The clone's address of the original @pc when it is the start of a cloned instruction, else @pc:
 * at a function's start behind the prefix. Functions that run from the module again
 * have none. [async-signal-safe] [any-thread]
 */
uint64_t dw_clone_of(uint64_t pc);

/* Whether the original @pc is the entry of a function that runs from its clone, with probes.
 * [async-signal-safe] [any-thread] */
bool dw_is_probed(uint64_t pc);

/* The function of @area, by index, whose clone holds the area offset @at; its
 * header->functions.n when it is in none. [async-signal-safe] [any-thread] */
uint32_t dw_function_of_clone(const struct dw_area *area, uint32_t at);

/* The first of the sorted offsets in [@at, @end) that is not below @least; @end = none.
 * [async-signal-safe] [any-thread] */
static inline const uint32_t *dw_first_offset(const uint32_t *at, const uint32_t *end,
					      uint32_t least)
{
	while (at < end) {
		const uint32_t *mid = at + (end - at) / 2;

		if (*mid < least)
			at = mid + 1;
		else
			end = mid;
	}
	return at;
}

/* The functions of @area, by module offset, header->functions.n of them. */
const struct dw_clone_function_entry *dw_functions(const struct dw_area *area);
