/*
 * Rows from totals: what a row of each kind of total is about.
 */
#pragma once

#include "view/view.h"

/* @row is about @function in @process. */
void dw_subject_function(const struct dw_view *v, uint32_t process, uint32_t function,
			 struct dw_row *row);

/* @row is about a statement. */
void dw_subject_line(const struct dw_view *v, const struct dw_line_total *line, struct dw_row *row);

/* @row is about an instruction, in the innermost function at its frame. */
void dw_subject_instruction(const struct dw_view *v, const struct dw_instruction_total *instruction,
			    struct dw_row *row);

/* @row is about a module. */
void dw_subject_module(const struct dw_module_total *module, struct dw_row *row);
