/*
 * The tables of the region (wire/allocations.h): rows are taken from them and never given back.
 * Addresses of rows never change.
 */
#pragma once

#include "wire/clr-tables.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Reserve addresses for tables that take @budget bytes in all, and make the head. */
bool dw_tables_start(uint64_t budget);

/* Give back addresses that no rows are mapped at, but for @keep bytes in all. Inside
 * dw_agent_enter(). */
void dw_tables_give_back(uint64_t keep);

/* The head in the region. */
struct dw_clr_head *dw_tables_head(void);

/* Where tables begin, constant after the start. */
struct dw_table_bases {
	uint64_t at[DWELL_CLR_TABLES];
};

extern struct dw_table_bases dw_table_bases;

/* Row @row of @t. */
static inline void *dw_table_row(enum dw_clr_table t, uint32_t row)
{
	return (void *)(dw_table_bases.at[t] + (uint64_t)row * dw_clr_row_bytes(t));
}

/* Take @n rows that follow each other: the first, 0 = no room. Zeroed. [any-thread] */
uint32_t dw_table_take(enum dw_clr_table t, uint32_t n);

/* As dw_table_take(), also of what is kept for what has to be counted when the rest is used. */
uint32_t dw_table_take_last(enum dw_clr_table t, uint32_t n);

/* As dw_table_take(), inside dw_agent_enter(). */
uint32_t dw_table_take_inside(enum dw_clr_table t, uint32_t n);

/* Add @bytes of text, at = 0: no room. Inside dw_agent_enter(). */
struct dw_clr_text dw_tables_add_text(const char *text, size_t bytes);

/* Whether three quarters of the budget are used. [any-thread] */
bool dw_tables_are_short(void);

/* Add to a fact. [any-thread] */
void dw_tables_count(enum dw_clr_fact fact, uint64_t n);
