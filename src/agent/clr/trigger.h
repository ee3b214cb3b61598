/*
 * Which code triggers a collection.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* Find stacks too, or only threads, of what triggers. */
void dw_trigger_start(bool has_stacks);

/* A module was loaded: the collector is there. */
void dw_trigger_module_loaded(void);

/* The runtime begins to stop threads for a collection, in a callback with frame address @base. */
void dw_trigger_suspends(uint64_t base);

/* The runtime says by an event that this thread has triggered one. As above. */
void dw_trigger_said(uint64_t base);
