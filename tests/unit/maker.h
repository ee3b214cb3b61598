/*
 * Making small profiles in memory for tests: frames come with their functions, stacks are written
 * outermost frame first. No memory is left out of the question here: tests run on small data.
 */
#pragma once

#include "model/profile.h"

#include <stdlib.h>
#include <string.h>

/* The id of a text. */
static inline uint32_t mk_text(struct dw_profile *p, const char *s)
{
	uint32_t id = 0;

	if (dw_strings_adds(&p->strings, s, &id))
		abort();
	return id;
}

/* A module of the path "/opt/NAME". */
static inline uint32_t mk_module(struct dw_profile *p, const char *name)
{
	char path[256] = "/opt/";
	struct dw_module m = {.kind = DWELL_MODULE_FILE, .name = mk_text(p, name)};
	uint32_t id;

	strncat(path, name, sizeof path - 6);
	m.path = mk_text(p, path);
	if (dw_modules_add(&p->modules, &m, &id))
		abort();
	return id;
}

/* A function declared in @file (NULL = nothing known) at @line. */
static inline uint32_t mk_function(struct dw_profile *p, uint32_t module, const char *name,
				   const char *file, uint32_t line)
{
	struct dw_function f = {.module = module, .name = mk_text(p, name), .line = line};
	uint32_t id;

	f.file = mk_text(p, file);
	f.svma = 0x1000 + 0x100 * (uint64_t)dw_functions_count(&p->functions);
	f.bytes = 0x100;
	if (dw_functions_add(&p->functions, &f, &id))
		abort();
	return id;
}

/* A new frame at @svma with its chain of @n functions, innermost first. */
static inline uint32_t mk_frame(struct dw_profile *p, struct dw_frame frame,
				const struct dw_location *chain, size_t n)
{
	uint32_t id;

	if (!p->locations.first.n &&
	    (dw_vec_push(&p->locations.first, 0) || dw_vec_push(&p->locations.first, 0)))
		abort();
	for (size_t i = 0; i < n; i++)
		if (dw_vec_push(&p->locations.rows, chain[i]))
			abort();
	if (dw_frames_add(&p->frames, frame, &id) || id + 1 != p->locations.first.n ||
	    dw_vec_push(&p->locations.first, (uint32_t)p->locations.rows.n))
		abort();
	return id;
}

/* A frame of one function on one line. */
static inline uint32_t mk_plain_frame(struct dw_profile *p, uint32_t function, uint64_t offset,
				      uint32_t line)
{
	const struct dw_function *f = dw_functions_get(&p->functions, function);
	struct dw_location l = {.function = function, .file = f->file, .line = line, .column = 5};

	return mk_frame(p, (struct dw_frame){f->module, DWELL_FRAME_CODE, f->svma + offset}, &l, 1);
}

/* The frame in whose place the rest of a stack could not be read. */
static inline uint32_t mk_cut(struct dw_profile *p)
{
	return mk_frame(p, (struct dw_frame){.kind = DWELL_FRAME_CUT}, NULL, 0);
}

/* A stack of @n frames, outermost first. */
static inline uint32_t mk_stack(struct dw_profile *p, const uint32_t *frames, size_t n)
{
	uint32_t id = 0;

	for (size_t i = 0; i < n; i++)
		if (dw_stacks_add(&p->stacks, id, frames[i], &id))
			abort();
	return id;
}

/* A process and its first thread, both of system id @pid. Gives the thread's id. */
static inline uint32_t mk_process(struct dw_profile *p, int32_t pid, const char *name)
{
	struct dw_process process = {
		.pid = pid, .name = mk_text(p, name), .end_ns = DWELL_TIME_NONE};
	struct dw_thread thread = {.tid = pid, .name = mk_text(p, name), .end_ns = DWELL_TIME_NONE};
	uint32_t id;

	if (dw_processes_add(&p->processes, &process, &thread.process) ||
	    dw_threads_add(&p->threads, &thread, &id))
		abort();
	return id;
}

/* @n samples of @stack, one every millisecond from where the last one was. */
static inline void mk_samples(struct dw_profile *p, uint32_t thread, uint32_t stack, size_t n)
{
	while (n--)
		if (dw_samples_add(&p->samples, p->samples.n * 1000000, thread, stack))
			abort();
}

/* A call node of @thread below @parent, whose function is entered at frame @entry. */
static inline uint32_t mk_call(struct dw_profile *p, uint32_t thread, uint32_t parent,
			       uint32_t entry, uint32_t site, uint32_t flags)
{
	struct dw_call_node node = {
		.thread = thread, .parent = parent, .entry = entry, .site = site, .flags = flags};
	uint32_t id;

	if (dw_calls_add(&p->calls, &node, &id))
		abort();
	return id;
}

/* What happened in @node in slice @slice. */
static inline void mk_delta(struct dw_profile *p, uint32_t slice, uint32_t node,
			    struct dw_call_values values)
{
	if (dw_vec_push(&p->calls.deltas, (struct dw_call_delta){slice, node, values}))
		abort();
}

/* A type of objects of @module in the process with the id @process. */
static inline uint32_t mk_type(struct dw_profile *p, const char *name, uint32_t module,
			       uint32_t process)
{
	struct dw_alloc_type type = {mk_text(p, name), module, process};
	uint32_t id;

	if (dw_allocations_type(&p->allocations, &type, &id))
		abort();
	return id;
}

/* What became of objects of @type that @thread allocated with @stack, in slice @slice. */
static inline void mk_alloc(struct dw_profile *p, uint32_t slice, struct dw_alloc_group group,
			    struct dw_alloc_values values)
{
	struct dw_alloc_delta delta = {.slice = slice, .values = values};

	if (dw_allocations_group(&p->allocations, &group, &delta.group) ||
	    dw_vec_push(&p->allocations.deltas, delta))
		abort();
}

/* The next slice of time. */
static inline void mk_slice(struct dw_profile *p, uint64_t end_ns)
{
	if (dw_vec_push(&p->calls.slices, (struct dw_call_slice){end_ns}))
		abort();
}
