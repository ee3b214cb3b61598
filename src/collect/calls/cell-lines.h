/*
 * What the lines of cells mean (wire/call-tree.h): for call-lines.h, which keeps them.
 *
 * A cell's line is found by its caller's record, as a node's is by its parent. It is kept whole,
 * and what it counts as a node does where that is. What calls it is of stays as it was found. One
 * thread.
 */
#pragma once

#include "collect/calls/call-lines.h"

#include <stdint.h>

/* Give the lines at @line a meaning: the record of a callee. 0 or -ENOMEM, as the next. */
int dw_cell_lines_add_callee(struct dw_call_lines *s, uint32_t line);

/* Likewise the cell @cell, whose caller's record is known. Of its nodes the second has the
 * inclusive values. */
int dw_cell_lines_add(struct dw_call_lines *s, uint32_t line, const struct dw_tree_cell *cell);

/* Likewise what few cells have, now @from: its cell says that it has it. */
int dw_cell_lines_add_inner(struct dw_call_lines *s, uint32_t line,
			    const struct dw_arena_line *from);

/* Likewise a path of cells: its node hangs below that of the path that it goes on from. */
int dw_cell_lines_add_drawn(struct dw_call_lines *s, uint32_t line);

/* The cell at @line is now @now. */
int dw_cell_lines_take(struct dw_call_lines *s, uint32_t line, const struct dw_tree_cell *now);

/* Of cells that have changed and have an inner record count all calls, also those that it has. 0 or
 * -ENOMEM. */
int dw_cell_lines_count(struct dw_call_lines *s);

/* The line of the record of the function that calls the cell at @line; of a statement, whose it
 * is. */
uint32_t dw_cell_lines_caller(const struct dw_call_lines *s, uint32_t line);

/* Whether the cell at @line is of one caller, and not of all that had no room for one of their
 * own. */
bool dw_cell_lines_is_callers(const struct dw_call_lines *s, uint32_t line);

/* The line of the record of what the cell at @line is a call of, or the root of cells. */
uint32_t dw_cell_lines_callee(const struct dw_call_lines *s, uint32_t line);

/*
 * What few cells have, of the one at @line whose member inner is @inner: now and at the reading
 * before. *@node = the profile's node of its repeated activations. 0, or with none -ENOENT,
 * -ENOMEM.
 */
int dw_cell_lines_inner(struct dw_call_lines *s, uint32_t line, uint32_t inner,
			struct dw_tree_inner *now, struct dw_tree_inner *old, uint32_t *node);
