/*
 * Frames -> row keys; see row-keys.h.
 *
 * There are far fewer frames than stacks (about 1 to 30), so that hashing statements here and not
 * in the walk over stacks makes the walk one of plain array accesses. Frame 0 stands for the empty
 * stack and for ids out of range; it has one slot of the unknown function.
 */
#include "analysis/row-keys.h"

#include <errno.h>
#include <stdlib.h>

struct line_lookup {
	const struct dw_row_keys *row_keys;
	const struct dw_line_total *line;
};

static bool is_equal_line(const void *ctx, uint32_t id)
{
	const struct line_lookup *l = ctx;
	const struct dw_line_total *a = &l->row_keys->lines.v[id], *b = l->line;

	return a->function == b->function && a->file == b->file && a->line == b->line &&
	       a->column == b->column && a->line_end == b->line_end &&
	       a->column_end == b->column_end;
}

static int intern_line(struct dw_row_keys *s, const struct dw_line_total *line, uint32_t *ret)
{
	struct line_lookup l = {s, line};
	uint64_t mixed = dw_hash_u64((uint64_t)line->function << 32 | line->line) + line->column;
	uint32_t hash = (uint32_t)dw_hash_u64(mixed ^ (uint64_t)line->line_end << 32);

	*ret = dw_idset_find(&s->line_set, hash, is_equal_line, &l);
	if (*ret)
		return 0;
	*ret = (uint32_t)s->lines.n;
	if (dw_vec_push(&s->lines, *line))
		return -ENOMEM;
	return dw_idset_add(&s->line_set, hash, *ret);
}

/* Slots of one frame. A chain longer than a 16-bit position is cut at its outer end. */
static uint32_t count_slots(const struct dw_profile *p, uint32_t frame)
{
	uint32_t n;

	dw_locations_get(&p->locations, frame, &n);
	return !frame || !n ? 1 : n > UINT16_MAX ? UINT16_MAX : n;
}

static int fill_slot(struct dw_row_keys *s, uint32_t slot, const struct dw_location *l)
{
	uint32_t function = l->function && l->function < s->functions_n
				    ? l->function
				    : (uint32_t)DWELL_FUNCTION_UNKNOWN;
	struct dw_line_total line = {.function = function, .file = l->file, .line = l->line};

	if (s->splits_lines) {
		line.column = l->column;
		line.line_end = l->line_end;
		line.column_end = l->column_end;
	}
	s->function[slot] = function == (uint32_t)DWELL_FUNCTION_UNKNOWN ? 0 : function;
	return s->line ? intern_line(s, &line, &s->line[slot]) : 0;
}

static int fill_frame(struct dw_row_keys *s, const struct dw_profile *p, uint32_t frame)
{
	const struct dw_frame *f = dw_frames_get(&p->frames, frame);
	uint32_t n, first = s->first[frame], slots = s->first[frame + 1] - first;
	const struct dw_location *l = dw_locations_get(&p->locations, frame, &n);
	int rc = 0;

	s->instruction[frame] = frame ? dw_frames_instruction(&p->frames, frame).frame : 0;
	s->module[frame] = f && f->module < s->modules_n ? f->module : 0;
	if (f && f->kind != DWELL_FRAME_CODE)
		s->function[first] = dw_row_keys_cut(s);
	else if (!frame || !n)
		s->function[first] = 0;
	else
		for (uint32_t i = 0; i < slots && !rc; i++)
			rc = fill_slot(s, first + i, &l[i]);
	return rc;
}

static int allocate(struct dw_row_keys *s, const struct dw_profile *p, enum dw_line_keys lines)
{
	size_t slots = 0;

	s->first = calloc((size_t)s->frames_n + 1, sizeof *s->first);
	s->module = calloc(s->frames_n, sizeof *s->module);
	s->instruction = calloc(s->frames_n, sizeof *s->instruction);
	if (!s->first || !s->module || !s->instruction)
		return -ENOMEM;
	for (uint32_t f = 0; f < s->frames_n; f++) {
		s->first[f] = (uint32_t)slots;
		slots += count_slots(p, f);
	}
	if (slots > UINT32_MAX)
		return -ENOMEM;
	s->first[s->frames_n] = (uint32_t)slots;
	s->function = calloc(slots, sizeof *s->function);
	s->line = lines ? calloc(slots, sizeof *s->line) : NULL;
	return s->function && (s->line || !lines) ? 0 : -ENOMEM;
}

int dw_row_keys_init(struct dw_row_keys *s, const struct dw_profile *p, enum dw_line_keys lines)
{
	struct dw_line_total unknown = {.function = (uint32_t)DWELL_FUNCTION_UNKNOWN};
	int rc;

	*s = (struct dw_row_keys){.frames_n = dw_frames_count(&p->frames) + 1,
				  .functions_n = dw_functions_count(&p->functions) + 1,
				  .modules_n = dw_modules_count(&p->modules) + 1,
				  .splits_lines = lines == DWELL_LINE_KEYS_STATEMENT};
	rc = allocate(s, p, lines);
	if (!rc && lines)
		rc = dw_vec_push(&s->lines, unknown);
	for (uint32_t f = 0; f < s->frames_n && !rc; f++)
		rc = fill_frame(s, p, f);
	return rc;
}

void dw_row_keys_release(struct dw_row_keys *s)
{
	free(s->first);
	free(s->function);
	free(s->line);
	free(s->module);
	free(s->instruction);
	dw_vec_release(&s->lines);
	dw_vec_release(&s->roots);
	dw_idset_release(&s->line_set);
	*s = (struct dw_row_keys){0};
}
