/* Rows of a session behind those of others; see join.h. */
#include "merge/join.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* Times beyond are no times: the sum of those of very many sessions is still one. */
#define TIME_MAX_NS (UINT64_C(1) << 58)

static void reach(uint64_t *end, uint64_t ns)
{
	if (ns < TIME_MAX_NS && ns > *end)
		*end = ns;
}

/* How long the session is: as long as it was recorded, or up to the last thing in it. */
static uint64_t span_of(const struct dw_profile *p)
{
	int64_t duration = dw_facts_get(&p->facts, "duration_ns", 0);
	uint64_t end = 0;

	reach(&end, duration > 0 ? (uint64_t)duration : 0);
	for (size_t i = 0; i < p->samples.n; i++)
		reach(&end, p->samples.time_ns[i]);
	dw_vec_each(x, &p->extras.rows)
		if (x->begin_ns < TIME_MAX_NS)
			reach(&end, x->begin_ns + x->span_ns);
	dw_vec_each(slice, &p->calls.slices)
		reach(&end, slice->end_ns);
	return end;
}

static uint32_t *new_map(size_t rows)
{
	return calloc(rows + 1, sizeof(uint32_t));
}

static int make_maps(struct dw_join *j)
{
	const struct dw_profile *from = j->from;

	j->strings = new_map(from->strings.n);
	j->modules = new_map(from->modules.rows.n);
	j->functions = new_map(from->functions.rows.n);
	j->frames = new_map(from->frames.rows.n);
	j->stacks = new_map(from->stacks.rows.n);
	return j->strings && j->modules && j->functions && j->frames && j->stacks ? 0 : -ENOMEM;
}

int dw_join_begin(struct dw_join *j, struct dw_joined *to, struct dw_profile *from,
		  struct dw_error *err)
{
	const struct dw_profile *p = &to->profile;
	size_t slices = from->calls.slices.n;

	*j = (struct dw_join){
		.to = to,
		.from = from,
		.shift_ns = to->end_ns,
		.span_ns = span_of(from),
		.processes = dw_processes_count(&p->processes),
		.threads = dw_threads_count(&p->threads),
		.nodes = dw_calls_count(&p->calls),
		.slices = (uint32_t)p->calls.slices.n,
		.types = (uint32_t)p->allocations.types.n,
		.groups = (uint32_t)p->allocations.groups.n,
	};
	if (j->shift_ns > TIME_MAX_NS ||
	    (slices && from->calls.slices.v[slices - 1].end_ns >= TIME_MAX_NS))
		return dw_error_set(err, DWELL_ERR_FORMAT, "damaged: its times make no sense");
	if ((uint64_t)j->nodes + dw_calls_count(&from->calls) >= UINT32_MAX ||
	    (uint64_t)j->groups + from->allocations.groups.n >= UINT32_MAX)
		return dw_error_set(err, DWELL_ERR_LIMIT, "the merged session has too many rows");
	return make_maps(j) ? dw_error_set(err, -ENOMEM, "no memory to merge it") : 0;
}

void dw_join_end(struct dw_join *j)
{
	free(j->strings);
	free(j->modules);
	free(j->functions);
	free(j->frames);
	free(j->stacks);
	*j = (struct dw_join){0};
}

/* @id of what stays apart, of which there were @n. */
static uint32_t moved(uint32_t id, uint32_t n)
{
	return id ? id + n : 0;
}

/* What was there when the first session began, or when the last one ended, is not known to have
 * been there in the others. */
static uint64_t begin_of(const struct dw_join *j, uint64_t ns)
{
	if (ns != DWELL_TIME_NONE)
		return ns + j->shift_ns;
	return j->shift_ns ? j->shift_ns : DWELL_TIME_NONE;
}

static uint64_t end_of(const struct dw_join *j, uint64_t ns)
{
	return ns == DWELL_TIME_NONE ? ns : ns + j->shift_ns;
}

static int join_strings(struct dw_join *j)
{
	const struct dw_strings *from = &j->from->strings;
	int rc = 0;

	for (uint32_t id = 1; id < from->n && !rc; id++)
		rc = dw_strings_add(&j->to->profile.strings, from->text[id], from->len[id],
				    &j->strings[id]);
	return rc;
}

/* Those of earlier sessions that had not ended have ended with them. */
static void end_tasks(struct dw_join *j)
{
	dw_vec_each(row, &j->to->profile.processes.rows)
		if (row->end_ns == DWELL_TIME_NONE) {
			row->end_ns = j->shift_ns;
			row->dirty = true;
		}
	dw_vec_each(row, &j->to->profile.threads.rows)
		if (row->end_ns == DWELL_TIME_NONE) {
			row->end_ns = j->shift_ns;
			row->dirty = true;
		}
}

static int join_tasks(struct dw_join *j)
{
	struct dw_profile *to = &j->to->profile;
	uint32_t id;
	int rc = 0;

	for (uint32_t i = 1; i <= dw_processes_count(&j->from->processes) && !rc; i++) {
		struct dw_process row = j->from->processes.rows.v[i];

		row.parent = moved(row.parent, j->processes);
		row.name = j->strings[row.name];
		row.command = j->strings[row.command];
		row.command_line = j->strings[row.command_line];
		row.begin_ns = begin_of(j, row.begin_ns);
		row.end_ns = end_of(j, row.end_ns);
		rc = dw_processes_add(&to->processes, &row, &id);
	}
	for (uint32_t i = 1; i <= dw_threads_count(&j->from->threads) && !rc; i++) {
		struct dw_thread row = j->from->threads.rows.v[i];
		uint32_t start = j->functions[row.start];

		row.process = moved(row.process, j->processes);
		row.name = j->strings[row.name];
		row.start = 0; /* functions come when all is finished */
		row.begin_ns = begin_of(j, row.begin_ns);
		row.end_ns = end_of(j, row.end_ns);
		rc = dw_threads_add(&to->threads, &row, &id);
		while (!rc && j->to->starts.n < id)
			rc = dw_vec_push(&j->to->starts, 0);
		rc = rc ? rc : dw_vec_push(&j->to->starts, start);
	}
	dw_vec_each(exec, &j->from->execs.rows) {
		struct dw_exec row = {moved(exec->process, j->processes), j->strings[exec->command],
				      j->strings[exec->command_line]};

		rc = rc ? rc : dw_vec_push(&to->execs.rows, row);
	}
	return rc;
}

static int join_samples(struct dw_join *j)
{
	const struct dw_profile *from = j->from;
	struct dw_profile *to = &j->to->profile;
	int rc = 0;

	for (uint32_t id = 1; id <= dw_stacks_count(&from->stacks) && !rc; id++) {
		const struct dw_stack *row = &from->stacks.rows.v[id];

		rc = dw_stacks_add(&to->stacks, j->stacks[row->parent], j->frames[row->frame],
				   &j->stacks[id]);
	}
	for (size_t i = 0; i < from->samples.n && !rc; i++)
		rc = dw_samples_add(&to->samples, from->samples.time_ns[i] + j->shift_ns,
				    moved(from->samples.thread[i], j->threads),
				    j->stacks[from->samples.stack[i]]);
	dw_vec_each(x, &from->extras.rows) {
		struct dw_extra row = *x;

		row.begin_ns += j->shift_ns;
		row.thread = moved(row.thread, j->threads);
		row.stack = j->stacks[row.stack];
		rc = rc ? rc : dw_vec_push(&to->extras.rows, row);
	}
	return rc;
}

static int join_nodes(struct dw_join *j)
{
	const struct dw_calls *from = &j->from->calls;
	struct dw_calls *to = &j->to->profile.calls;
	uint32_t id;

	dw_vec_each(node, &from->nodes) {
		struct dw_call_node row = *node;

		row.thread = moved(row.thread, j->threads);
		row.parent = moved(row.parent, j->nodes);
		row.entry = j->frames[row.entry];
		row.site = j->frames[row.site];
		row.caller = j->frames[row.caller];
		if (dw_calls_add(to, &row, &id))
			return -ENOMEM;
	}
	dw_vec_each(slice, &from->slices)
		if (dw_vec_push(&to->slices, (struct dw_call_slice){slice->end_ns + j->shift_ns}))
			return -ENOMEM;
	return 0;
}

/* What stands beside the nodes. */
static int join_call_rows(struct dw_join *j)
{
	const struct dw_calls *from = &j->from->calls;
	struct dw_calls *to = &j->to->profile.calls;
	int rc = 0;

	dw_vec_each(extremes, &from->extremes) {
		struct dw_call_extremes row = *extremes;

		row.id = ++to->extremes_ids;
		row.thread = moved(row.thread, j->threads);
		row.entry = j->frames[row.entry];
		rc = rc ? rc : dw_vec_push(&to->extremes, row);
	}
	dw_vec_each(slow, &from->slow) {
		struct dw_call_slow row = *slow;

		row.id = ++to->slow_ids;
		row.node = moved(row.node, j->nodes);
		row.start_ns += j->shift_ns;
		rc = rc ? rc : dw_vec_push(&to->slow, row);
	}
	dw_vec_each(file, &from->files) {
		struct dw_call_file row = *file;

		row.id = ++to->file_ids;
		row.thread = moved(row.thread, j->threads);
		row.entry = j->frames[row.entry];
		row.file = j->strings[row.file];
		rc = rc ? rc : dw_vec_push(&to->files, row);
	}
	dw_vec_each(disabled, &from->disabled) {
		struct dw_call_disabled row = *disabled;

		row.process = moved(row.process, j->processes);
		row.entry = j->frames[row.entry];
		row.at_ns += j->shift_ns;
		rc = rc ? rc : dw_vec_push(&to->disabled, row);
	}
	return rc;
}

static int join_allocations(struct dw_join *j)
{
	const struct dw_allocations *from = &j->from->allocations;
	struct dw_allocations *to = &j->to->profile.allocations;
	uint32_t id;
	int rc = 0;

	dw_vec_each(type, &from->types) {
		struct dw_alloc_type row = {j->strings[type->name], j->modules[type->module],
					    moved(type->process, j->processes)};

		rc = rc ? rc : dw_vec_push(&to->types, row);
	}
	dw_vec_each(group, &from->groups) {
		struct dw_alloc_group row = {moved(group->thread, j->threads),
					     j->stacks[group->stack], moved(group->type, j->types)};

		rc = rc ? rc : dw_vec_push(&to->groups, row);
	}
	dw_vec_each(method, &from->methods) {
		struct dw_alloc_method row = {j->modules[method->module], method->token,
					      j->strings[method->name]};

		rc = rc ? rc : dw_allocations_method(to, &row, &id);
	}
	dw_vec_each(gc, &from->gcs) {
		struct dw_gc row = *gc;

		row.process = moved(row.process, j->processes);
		row.reason = j->strings[row.reason];
		row.thread = moved(row.thread, j->threads);
		row.stack = j->stacks[row.stack];
		row.start_ns += j->shift_ns;
		rc = rc ? rc : dw_vec_push(&to->gcs, row);
	}
	return rc;
}

int dw_join_tables(struct dw_join *j)
{
	int rc = join_strings(j);

	rc = rc ? rc : dw_join_modules(j);
	rc = rc ? rc : dw_join_symbols(j);
	if (!rc)
		end_tasks(j);
	rc = rc ? rc : join_tasks(j);
	rc = rc ? rc : join_samples(j);
	rc = rc ? rc : join_nodes(j);
	rc = rc ? rc : join_call_rows(j);
	rc = rc ? rc : join_allocations(j);
	j->to->end_ns = j->shift_ns + j->span_ns;
	return rc;
}

void dw_joined_release(struct dw_joined *to)
{
	dw_profile_release(&to->profile);
	dw_vec_release(&to->chains);
	dw_vec_release(&to->locations);
	dw_vec_release(&to->starts);
	dw_pairs_release(&to->codes);
	dw_map_release(&to->sources);
	dw_vec_release(&to->next_modules);
	dw_map_release(&to->first_modules);
	dw_map_release(&to->last_modules);
}
