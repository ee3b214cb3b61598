/*
 * The tables of the region (wire/allocations.h): rows are taken from them and never given back.
 * Addresses of rows never change.
 */
#pragma once

#include "wire/allocations.h"
#include "wire/managed-code.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Reserve addresses for tables that take @budget bytes in all, and make the head. */
bool dw_tables_start(uint64_t budget);

/* The head in the region. */
struct dw_clr_head *dw_tables_head(void);

/* Where tables begin, constant after the start. */
struct dw_table_bases {
	uint64_t at[DWELL_CLR_TABLES];
};

extern struct dw_table_bases dw_table_bases;

/* Bytes of a row of @t. */
static inline uint32_t dw_table_row_bytes(enum dw_clr_table t)
{
	switch (t) {
	case DWELL_CLR_NODES:
		return sizeof(struct dw_clr_node);
	case DWELL_CLR_GROUPS:
		return sizeof(struct dw_clr_group);
	case DWELL_CLR_OLDS:
		return sizeof(struct dw_clr_old);
	case DWELL_CLR_TYPES:
		return sizeof(struct dw_clr_type);
	case DWELL_CLR_FRAMES:
		return sizeof(struct dw_clr_frame);
	case DWELL_CLR_FUNCTIONS:
		return sizeof(struct dw_clr_function);
	case DWELL_CLR_MODULES:
		return sizeof(struct dw_clr_module);
	case DWELL_CLR_THREADS:
		return sizeof(struct dw_clr_thread);
	case DWELL_CLR_GCS:
		return sizeof(struct dw_clr_gc);
	case DWELL_CLR_CODES:
		return sizeof(struct dw_clr_code);
	case DWELL_CLR_IL:
		return sizeof(struct dw_clr_il);
	default:
		return 1;
	}
}

/* Row @row of @t. */
static inline void *dw_table_row(enum dw_clr_table t, uint32_t row)
{
	return (void *)(dw_table_bases.at[t] + (uint64_t)row * dw_table_row_bytes(t));
}

/* Take @n rows that follow each other: the first, 0 = no room. Zeroed. [any-thread] */
uint32_t dw_table_take(enum dw_clr_table t, uint32_t n);

/* As dw_table_take(), inside dw_agent_enter(). */
uint32_t dw_table_take_inside(enum dw_clr_table t, uint32_t n);

/* Add @bytes of text, at = 0: no room. Inside dw_agent_enter(). */
struct dw_clr_text dw_tables_add_text(const char *text, size_t bytes);

/* Whether three quarters of the budget are used. [any-thread] */
bool dw_tables_are_short(void);

/* Add to a fact. [any-thread] */
void dw_tables_count(enum dw_clr_fact fact, uint64_t n);
