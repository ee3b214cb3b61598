/*
 * The probing agent: modules that run from their clones.
 *
 * area.c maps an image beside its module, relocates it and patches the module's entries; modules.c
 * finds the modules (at start, after dlopen, gone after dlclose); lookup.c translates addresses
 * between the two; unwind.c shows the clones to unwinders; the rest stands in for functions that
 * would show clone addresses to the program (signals.c, dlfcn.c, backtrace.c) or that change text
 * (protect.c). No decoder, no parser of foreign formats.
 */
#pragma once

#include "wire/clone-image.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A module that runs from its clones. Published whole; never moved or reused while others may read
 * it. */
struct dw_area {
	uint64_t module; /* avma of the module's start */
	uint64_t module_bytes;
	uint64_t area; /* avma, also of struct dw_clone_header - DWELL_CLONE_HEADER_OFFSET */
	uint64_t bytes;
	const struct dw_clone_header *header;
	uint32_t region_module; /* index in the region */
	bool is_closed;		/* dlclosed: matches nothing */
};

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

/* The clone's address of the original @pc when it is the start of a cloned instruction, else @pc:
 * at a function's start behind the prefix. [async-signal-safe] [any-thread] */
uint64_t dw_clone_of(uint64_t pc);
