/*
 * Clones for debuggers: gdb's interface for code that is made while a program runs ("JIT
 * Compilation Interface" in its manual).
 *
 * A debugger that attaches finds a list by the names of two symbols of the agent's, whose entries
 * lead to ELF files in the process's memory: one for each image, which tells symbols and unwind
 * tables of its clones (struct dw_clone_object). Without it gdb cannot even leave a clone's frame.
 */
#pragma once

#include <stdint.h>

/* An entry of the list, as gdb knows it. Those that were taken out still lead on. */
struct dw_debugger_entry {
	struct dw_debugger_entry *next;
	struct dw_debugger_entry *prev;
	uint64_t object; /* address of the ELF file */
	uint64_t object_bytes;
};

struct dw_area;
struct dw_clone_header;

/* Write the object of the image that is mapped at @area and has the header @h, whose constants can
 * be written still. */
void dw_debugger_write_object(uint64_t area, const struct dw_clone_header *h);

/* Show the clones of @area to debuggers, which may stop the process at any moment. Inside
 * dw_agent_enter(). */
void dw_debugger_add(struct dw_area *area);

/* Show them no more, before they are unmapped. Nothing where they are not shown. Inside
 * dw_agent_enter(). */
void dw_debugger_remove(struct dw_area *area);
