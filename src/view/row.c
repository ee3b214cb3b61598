/* What rows are about; see rows.h. */
#include "view/rows.h"

void dw_row_set_measured(const struct dw_view *v, struct dw_measured measured, struct dw_row *row)
{
	row->measured = measured;
	row->values = *dw_amounts_common(measured.table, measured.row, v->request.totals->main);
}

void dw_row_set_amounts(const struct dw_view *v, uint32_t amounts, struct dw_row *row)
{
	dw_row_set_measured(v, dw_totals_measured(v->request.totals, amounts), row);
}

void dw_row_set_lane(const struct dw_view *v, uint32_t lane, struct dw_row *row)
{
	const struct dw_totals *t = v->request.totals;

	if (lane >= t->lanes.n)
		return;
	row->process = t->lanes.v[lane].process;
	row->thread = t->lanes.v[lane].thread;
	row->command = t->lanes.v[lane].command;
}

void dw_row_set_root(uint32_t thread, struct dw_row *row)
{
	row->thread = thread;
	row->function = (uint32_t)DWELL_FUNCTION_ROOT;
}

void dw_row_set_function_total(const struct dw_view *v, const struct dw_function_total *total,
			       struct dw_row *row)
{
	dw_row_set_lane(v, total->lane, row);
	if (total->function == (uint32_t)DWELL_FUNCTION_ROOT)
		dw_row_set_root(total->thread, row);
	else
		dw_row_set_function(v, total->function, row);
	dw_row_set_measured(v, dw_totals_function_measured(v->request.totals, total), row);
}

void dw_row_set_node(const struct dw_view *v, const struct dw_node_total *node, struct dw_row *row)
{
	const struct dw_totals *t = v->request.totals;
	size_t index = (size_t)(node - t->nodes.v);

	dw_row_set_lane(v, node->lane, row);
	if (t->nodes_by_type && !node->level)
		dw_row_set_type(v, node->function, row);
	else if (node->function == (uint32_t)DWELL_FUNCTION_ROOT)
		dw_row_set_root(t->node_threads.v[index], row);
	else
		dw_row_set_function(v, node->function, row);
	row->level = node->level;
	dw_row_set_measured(v, dw_totals_node_measured(t, index), row);
}

void dw_row_set_type(const struct dw_view *v, uint32_t type, struct dw_row *row)
{
	const struct dw_alloc_type *t =
		dw_allocations_get_type(&v->request.profile->allocations, type);

	row->name = DWELL_NAME_CLASS;
	row->class_of = type;
	row->module = t ? t->module : 0;
	if (row->module)
		row->flags |= DWELL_ROW_HAS_MODULE;
}

void dw_row_set_function(const struct dw_view *v, uint32_t function, struct dw_row *row)
{
	const struct dw_function *f = dw_functions_get(&v->request.profile->functions, function);

	row->function = function;
	row->module = f ? f->module : 0;
	if (f || function == (uint32_t)DWELL_FUNCTION_UNKNOWN)
		row->flags |= DWELL_ROW_HAS_MODULE;
}

void dw_row_set_statement(const struct dw_view *v, const struct dw_line_total *line,
			  struct dw_row *row)
{
	dw_row_set_lane(v, line->lane, row);
	dw_row_set_function(v, line->function, row);
	row->name = DWELL_NAME_LINE;
	row->flags |= DWELL_ROW_HAS_LINE;
	row->file = line->file;
	row->line = line->line;
	row->column = line->column;
	row->line_end = line->line_end;
	row->column_end = line->column_end;
}

void dw_row_set_line(const struct dw_view *v, const struct dw_line_total *line, struct dw_row *row)
{
	dw_row_set_statement(v, line, row);
	dw_row_set_measured(v, dw_totals_line_measured(v->request.totals, line), row);
}

/* The statement of the innermost function at @frame. */
static struct dw_line_total line_at(const struct dw_profile *p, uint32_t frame)
{
	uint32_t n;
	const struct dw_location *l = dw_locations_get(&p->locations, frame, &n);
	struct dw_line_total line = {.function = (uint32_t)DWELL_FUNCTION_UNKNOWN};

	if (!l)
		return line;
	line.file = l->file;
	line.line = l->line;
	line.column = l->column;
	line.line_end = l->line_end;
	line.column_end = l->column_end;
	if (dw_functions_get(&p->functions, l->function))
		line.function = l->function;
	return line;
}

void dw_row_set_instruction(const struct dw_view *v, const struct dw_instruction_total *instruction,
			    struct dw_row *row)
{
	const struct dw_totals *t = v->request.totals;
	const struct dw_frame *f = dw_frames_get(&v->request.profile->frames, instruction->frame);
	/* Where lines are shown too, the row of this one was the one before, mostly. */
	struct dw_line_total line = t->lines.n ? t->lines.v[instruction->line_row]
					       : line_at(v->request.profile, instruction->frame);

	line.lane = instruction->lane;
	dw_row_set_statement(v, &line, row);
	row->name = DWELL_NAME_ADDRESS;
	dw_row_set_measured(v, dw_totals_instruction_measured(t, instruction), row);
	if (f) {
		row->flags |= DWELL_ROW_HAS_ADDRESS;
		row->address =
			dw_frames_instruction(&v->request.profile->frames, instruction->frame).svma;
		row->module = f->module;
	}
}

void dw_row_set_module(const struct dw_view *v, const struct dw_module_total *module,
		       struct dw_row *row)
{
	row->name = DWELL_NAME_MODULE;
	row->flags |= DWELL_ROW_HAS_MODULE;
	dw_row_set_lane(v, module->lane, row);
	row->module = module->module;
	dw_row_set_measured(v, dw_totals_module_measured(v->request.totals, module), row);
}
