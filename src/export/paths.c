/*
 * Paths; see paths.h. Names are those of reports, so that both can be compared.
 *
 * Symbols behind the functions: the cut part of a stack, the truncated one, then threads.
 */
#include "export/paths.h"

void dw_paths_init(struct dw_paths *p, const struct dw_profile *profile)
{
	*p = (struct dw_paths){
		.profile = profile,
		.frames_n = dw_frames_count(&profile->frames) + 1,
		.threads_n = dw_threads_count(&profile->threads) + 1,
		.functions_n = dw_functions_count(&profile->functions) + 1,
		.outermost = dw_profile_has_calls(profile),
	};
	if (p->outermost)
		return;
	p->rows = profile->stacks.rows.v;
	p->n = dw_stacks_count(&profile->stacks) + 1;
}

int dw_paths_add(struct dw_paths *p, uint32_t parent, uint32_t location, uint32_t *ret)
{
	int rc = dw_stacks_add(&p->made, parent, location, ret);

	p->rows = p->made.rows.v;
	p->n = dw_stacks_count(&p->made) + 1;
	return rc;
}

/* The functions at the frame @location; NULL = none are known, or it is no frame. */
static const struct dw_location *chain(const struct dw_paths *p, uint32_t location, uint32_t *n)
{
	*n = 0;
	return location < p->frames_n ? dw_locations_get(&p->profile->locations, location, n)
				      : NULL;
}

uint32_t dw_paths_lines(const struct dw_paths *p, uint32_t location)
{
	uint32_t n;

	chain(p, location, &n);
	return n && !p->outermost ? n : 1;
}

/* The symbol at @location, of which no function is known. */
static uint32_t pseudo_function(const struct dw_paths *p, uint32_t location)
{
	const struct dw_frame *f = dw_frames_get(&p->profile->frames, location);

	if (location == dw_paths_truncated_location(p))
		return p->functions_n + 1;
	if (location >= p->frames_n && location < dw_paths_truncated_location(p))
		return p->functions_n + 2 + location - p->frames_n;
	return f && f->kind != DWELL_FRAME_CODE ? p->functions_n : 0;
}

struct dw_path_line dw_paths_line(const struct dw_paths *p, uint32_t location, uint32_t i)
{
	uint32_t n;
	const struct dw_location *l = chain(p, location, &n);

	if (p->outermost && n)
		i = n - 1;
	if (i >= n)
		return (struct dw_path_line){.symbol = pseudo_function(p, location)};
	l += i;
	return (struct dw_path_line){
		.symbol = l->function < p->functions_n ? l->function : 0,
		.file = l->file,
		.line = l->line,
		.column = l->column,
	};
}

const struct dw_function *dw_paths_function(const struct dw_paths *p, uint32_t symbol)
{
	return dw_functions_get(&p->profile->functions, symbol);
}

const char *dw_paths_name(const struct dw_paths *p, uint32_t symbol, struct dw_buf *scratch)
{
	const struct dw_function *f = dw_paths_function(p, symbol);

	if (f)
		return dw_strings_get(&p->profile->strings, f->name);
	if (symbol < p->functions_n)
		return "[unknown]";
	if (symbol < p->functions_n + 2)
		return symbol == p->functions_n ? "[stack cut]" : "(paths not drawn)";
	dw_buf_clear(scratch);
	dw_buf_printf(scratch, "[thread %s]", dw_paths_thread_name(p, symbol - p->functions_n - 2));
	return dw_buf_str(scratch);
}

const char *dw_paths_thread_name(const struct dw_paths *p, uint32_t thread)
{
	const struct dw_thread *t = dw_threads_get(&p->profile->threads, thread);
	const struct dw_function *start = t ? dw_paths_function(p, t->start) : NULL;
	uint32_t name = start ? start->name : t ? t->name : 0;

	return dw_strings_get(&p->profile->strings, name);
}

const struct dw_process *dw_paths_process(const struct dw_paths *p, uint32_t thread)
{
	const struct dw_thread *t = dw_threads_get(&p->profile->threads, thread);

	return t ? dw_processes_get(&p->profile->processes, t->process) : NULL;
}

void dw_paths_release(struct dw_paths *p)
{
	dw_stacks_release(&p->made);
	*p = (struct dw_paths){0};
}
