/* Processes, threads, and all tables together; see profile.h. */
#include "model/profile.h"

#include <errno.h>
#include <string.h>

int dw_processes_add(struct dw_processes *t, const struct dw_process *row, uint32_t *ret)
{
	if (!t->rows.n && dw_vec_push(&t->rows, (struct dw_process){0}))
		return -ENOMEM;
	if (t->rows.n >= UINT32_MAX || dw_vec_push(&t->rows, *row))
		return -ENOMEM;
	*ret = (uint32_t)t->rows.n - 1;
	return 0;
}

int dw_threads_add(struct dw_threads *t, const struct dw_thread *row, uint32_t *ret)
{
	if (!t->rows.n && dw_vec_push(&t->rows, (struct dw_thread){0}))
		return -ENOMEM;
	if (t->rows.n >= UINT32_MAX || dw_vec_push(&t->rows, *row))
		return -ENOMEM;
	*ret = (uint32_t)t->rows.n - 1;
	return 0;
}

enum dw_method dw_profile_method(const struct dw_profile *p)
{
	const char *method;

	/* Asked for each row of a view: what is there tells quicker than what was noted. */
	if (p->calls.nodes.n)
		return DWELL_METHOD_INSTRUMENTATION;
	if (p->allocations.groups.n)
		return DWELL_METHOD_MEMORY;
	if (p->samples.n || p->extras.rows.n)
		return DWELL_METHOD_SAMPLING;
	method = dw_facts_get_text(&p->facts, "method");
	if (method && !strcmp(method, "instrumentation"))
		return DWELL_METHOD_INSTRUMENTATION;
	return method && !strcmp(method, "memory") ? DWELL_METHOD_MEMORY : DWELL_METHOD_SAMPLING;
}

int dw_process_set_command(struct dw_profile *p, uint32_t process, const char *command,
			   const char *line)
{
	struct dw_process *row = dw_processes_get(&p->processes, process);
	struct dw_exec exec = {.process = process};

	if (dw_strings_adds(&p->strings, command, &exec.command) ||
	    dw_strings_adds(&p->strings, line, &exec.command_line))
		return -ENOMEM;
	if (exec.command == row->command && exec.command_line == row->command_line)
		return 0;
	row->command = exec.command;
	row->command_line = exec.command_line;
	return dw_vec_push(&p->execs.rows, exec);
}

uint32_t dw_process_command(const struct dw_profile *p, uint32_t process)
{
	const struct dw_process *row = dw_processes_get(&p->processes, process);

	return !row ? 0 : row->command ? row->command : row->name;
}

void dw_profile_release(struct dw_profile *p)
{
	dw_strings_release(&p->strings);
	dw_facts_release(&p->facts);
	dw_modules_release(&p->modules);
	dw_vec_release(&p->processes.rows);
	dw_vec_release(&p->threads.rows);
	dw_vec_release(&p->execs.rows);
	dw_frames_release(&p->frames);
	dw_stacks_release(&p->stacks);
	dw_samples_release(&p->samples);
	dw_vec_release(&p->extras.rows);
	dw_calls_release(&p->calls);
	dw_allocations_release(&p->allocations);
	dw_functions_release(&p->functions);
	dw_locations_release(&p->locations);
	dw_codes_release(&p->codes);
	dw_sources_release(&p->sources);
}
