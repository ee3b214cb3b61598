/*
 * Modules that run from their clones, with probes.
 *
 * modules.c finds the modules (at start, after dlopen, gone after dlclose); area.c maps an image
 * beside its module, where rooms.c has found room, and relocates it; text-x86-64.c patches the
 * module's entries; lookup.c translates addresses between the two; trampolines.c and counts.c are
 * what the trampolines call when they cannot go on, calibrate.c finds what these cost,
 * disable-x86-64.c switches them off, and finish-x86-64.c all of them at the end;
 * signal-context-x86-64.c lets signal handlers see the program as it is without trampolines;
 * debugger.c shows the clones to debuggers, unwind.c to unwinders, and original addresses to the
 * program; the rest stands in for functions that would show clone addresses (signals.c,
 * loader-calls-x86-64.c), that change text (protect.c) or that make holes (unmapping.c). No
 * decoder, no parser of foreign formats.
 */
#pragma once

#include "agent/clones/debugger.h"
#include "wire/clone-image.h"
#include "wire/region.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { DWELL_PAGE_BYTES = 4096 };

#define DWELL_SITE_IS_TAIL (1u << 31)

/*
 * Where the clones of an area call its imports, by import: which one a probe is about stands in the
 * code only, and reading all of it costs milliseconds in a large program. All zero = not listed
 * yet.
 */
struct dw_import_sites {
	uint32_t *first; /* of each import: place in at; one more than imports */
	uint32_t *at;	/* offsets of trampoline calls in the area, ascending for each import, those
			   of tail calls, which have DWELL_SITE_IS_TAIL, last */
	uint64_t bytes; /* of both, one piece of the agent's memory */
};

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
	const uint8_t *final;	/* final code for the area's place, mapped apart; NULL = none */
	bool is_restored;  /* the module has its own text: all its functions run from it again */
	uint8_t *left;	   /* bit n: function n runs from the module again; NULL = none does */
	uint64_t *counts;  /* calls[], NULL until the first call */
	int32_t *places;   /* counts.h's, by function and import, NULL = none */
	uint8_t *disabled; /* disable.h's, NULL = nothing is */
	struct dw_import_sites sites; /* disable.h's */
	uint64_t ret; /* avma of a `ret` in the module, 0 = not looked for, 1 = none */
	struct dw_debugger_entry debugger; /* debugger.h's, object 0 = not shown */
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

/* Where a call of @key, of an import or an address, leads now: 0 = not known, or @key is of a
 * function. An import that the loader has not looked up yet leads into its own module. */
uint64_t dw_address_of_key(uint64_t key);

/* As struct dw_agent_part.module_of: an import's module is known once the loader has found it. */
uint32_t dw_module_of_key(uint64_t key);

/* List the sites of @area, unless it has been done. False: no memory. Inside dw_agent_enter(). */
bool dw_import_sites_list(struct dw_import_sites *s, const struct dw_area *area);

/* The sites of @import, below the header's imports.n, and in *@end where they end. */
const uint32_t *dw_import_sites_of(const struct dw_import_sites *s, uint32_t import,
				   const uint32_t **end);

/* Give back the memory of @s, which is all zero again. */
void dw_import_sites_release(struct dw_import_sites *s);

enum {
	DWELL_HANDLERS = 512, /* distinct signal handlers that see original addresses */
	DWELL_KNOWN = 1024,   /* modules that may be loaded when another is opened */
};

/*
 * The agent's whole state. Areas are appended inside dw_agent_enter() and read by anybody; the
 * other fields belong to the file named beside them.
 */
struct dw_probe {
	struct dw_area areas[DWELL_REGION_MODULES];
	uint32_t area_n;
	uint32_t module_n; /* in the region, modules.c */
	bool is_started;   /* what was there at the start has been cloned */
	uint32_t opener;   /* process whose thread is in dlopen(), 0 = none, loader-calls */
	bool is_disturbed; /* another thread has opened something meanwhile, loader-calls */
	uint32_t known_n;  /* modules.c */
	uint64_t known[DWELL_KNOWN];
	bool is_calibrated; /* the cost of probes is known, area.c */
	uint64_t adds;	    /* modules loaded so far, as the loader counts, modules.c */
	uint32_t walks;	    /* over the loader's list for what is still there, modules.c */
	bool has_slowest;   /* single calls are kept of chosen functions only, trampolines.c */
	bool is_blind;	    /* the TSC may not be read any more, trampolines.c */
	bool is_disabling;  /* a thread is at it, atomic, disable-x86-64.c */
	bool is_finished;   /* nothing is measured any more, finish-x86-64.c */
	uint32_t disabled_serial;	/* of what is done, atomic, disable-x86-64.c */
	void *handlers[DWELL_HANDLERS]; /* signals.c */
};

extern struct dw_probe dw_probe;
