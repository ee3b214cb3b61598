/*
 * Room for clone images, beside their modules.
 *
 * All of it lies in ranges that were reserved before the program's first instruction, or where the
 * program has never unmapped anything: what the kernel would give wherever it is free may be a hole
 * that the program has made and will fill again. A module that has no such room near enough runs
 * unmeasured. Inside dw_agent_enter() but for dw_rooms_unmapped().
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct dw_clone_header;
struct dw_module;

/* Bytes that a 32-bit distance spans, and some to spare: a module and its image lie within. */
#define DWELL_ROOM_REACH ((uint64_t)0x7ff00000)

/* Reserve room for the modules that the program will open, in a process with one thread: after all
 * else that is reserved, as the kernel then puts it next to where such modules come. */
void dw_rooms_start(void);

/* Reserve room for the image with the header @h near @m. Its address, to be mapped over with
 * MAP_FIXED, 0 = there is none. */
uint64_t dw_rooms_take(const struct dw_module *m, const struct dw_clone_header *h);

/* Give back the @bytes of room at @at, whatever is mapped there, for other images. */
void dw_rooms_free(uint64_t at, uint64_t bytes);

/* Give back addresses that no image has, but for @keep bytes: from now on there is no room but
 * in those. */
void dw_rooms_give_back(uint64_t keep);

/* The program is about to unmap @bytes at @at: a hole that it may come back to.
 * [async-signal-safe] [any-thread] */
void dw_rooms_unmapped(uint64_t at, uint64_t bytes);
