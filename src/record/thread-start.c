/*
 * Start routines; see finish.h. A thread's outermost frames are clone's and start_thread's,
 * the main thread's are _start's and __libc_start_main's: the C library mostly has no symbols for
 * them, so its module name decides. A stripped program has none for _start, so what calls
 * __libc_start_main is passed over, too. The kernel's frames are nobody's start: they stand
 * outermost where a stack has no user code.
 */
#include "record/finish.h"

#include "base/cleanup.h"
#include "base/map.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static bool is_start_code(const struct dw_profile *p, const struct dw_function *f)
{
	static const char *const prefixes[] = {"libc.so",  "libc-2", "libpthread",
					       "ld-linux", "ld-2",   "ld-musl"};
	const struct dw_module *m = dw_modules_get(&p->modules, f->module);
	const char *name = m ? dw_strings_get(&p->strings, m->name) : "";

	if (m && m->kind == DWELL_MODULE_KERNEL)
		return true;
	for (size_t i = 0; i < sizeof prefixes / sizeof *prefixes; i++)
		if (!strncmp(name, prefixes[i], strlen(prefixes[i])))
			return true;
	return !strcmp(dw_strings_get(&p->strings, f->name), "_start");
}

/* The outermost of the functions at @frame that is the program's own, else @otherwise. */
static uint32_t start_at_frame(const struct dw_profile *p, uint32_t frame, uint32_t otherwise)
{
	uint32_t n;
	const struct dw_location *chain = dw_locations_get(&p->locations, frame, &n);

	while (n--) {
		const struct dw_function *f = dw_functions_get(&p->functions, chain[n].function);

		if (f && !is_start_code(p, f))
			return chain[n].function;
	}
	return otherwise;
}

/* Whether @frame is in the function of the C library that calls main(). */
static bool calls_main(const struct dw_profile *p, uint32_t frame)
{
	static const char name[] = "__libc_start_main";
	uint32_t n;
	const struct dw_location *chain = dw_locations_get(&p->locations, frame, &n);
	const struct dw_function *f =
		n ? dw_functions_get(&p->functions, chain[n - 1].function) : NULL;

	return f && is_start_code(p, f) &&
	       !strncmp(dw_strings_get(&p->strings, f->name), name, sizeof name - 1);
}

/* By stack: the outermost function that is the program's own; 0 = none or the stack was cut. NULL
 * without memory. Owned by the caller. */
static uint32_t *starts_of_stacks(const struct dw_profile *p)
{
	const uint32_t cut = UINT32_MAX;
	uint32_t n = dw_stacks_count(&p->stacks);
	uint32_t *starts = calloc((size_t)n + 1, sizeof *starts);

	for (uint32_t id = 1; starts && id <= n; id++) {
		const struct dw_stack *s = dw_stacks_get(&p->stacks, id);
		uint32_t outer = starts[s->parent];

		if (dw_frames_get(&p->frames, s->frame)->kind == DWELL_FRAME_CUT)
			starts[id] = cut;
		else if (!outer)
			starts[id] = start_at_frame(p, s->frame, 0);
		else if (outer != cut && !calls_main(p, s->frame))
			starts[id] = outer;
		else
			starts[id] = outer == cut ? cut : 0;
	}
	for (uint32_t id = 1; starts && id <= n; id++)
		if (starts[id] == cut)
			starts[id] = 0;
	return starts;
}

/* The function of @node that is the program's own, 0 = none. A callee has the whole chain. */
static uint32_t start_of_call(const struct dw_profile *p, const struct dw_call_node *node)
{
	if (node->flags & (DWELL_CALL_ROOT | DWELL_CALL_OVERFLOW))
		return 0;
	return start_at_frame(p, node->entry, 0);
}

/* By node: its outermost ancestor, or itself, that a thread may have begun with; 0 = none. */
static void find_outermost(const struct dw_profile *p, uint32_t *outermost)
{
	for (uint32_t id = 1; id <= dw_calls_count(&p->calls); id++) {
		const struct dw_call_node *node = dw_calls_get(&p->calls, id);
		uint32_t above = node->parent < id ? outermost[node->parent] : 0;

		outermost[id] = above || !start_of_call(p, node) ? above : id;
	}
}

enum { START_PART = 10 }; /* of what a thread does its start may lack one part in so many */

/* Whether a thread begins with what has @most of @all: threads of a pool begin with whatever they
 * are given, and have the name that they have; the main thread's is what it does most. */
static bool is_start(const struct dw_profile *p, const struct dw_thread *t, uint64_t most,
		     uint64_t all)
{
	const struct dw_process *process = dw_processes_get(&p->processes, t->process);

	return most >= all - all / START_PART || (process && process->pid == t->tid);
}

/* Threads with calls begin with what took most of their time. */
static void find_starts_of_calls(struct dw_profile *p)
{
	size_t n = (size_t)dw_calls_count(&p->calls) + 1;
	dw_auto_free uint32_t *outermost = calloc(n, sizeof *outermost);
	dw_auto_free uint64_t *elapsed = calloc(n, sizeof *elapsed);
	size_t threads_n = (size_t)dw_threads_count(&p->threads) + 1;
	dw_auto_free uint64_t *most = calloc(threads_n, sizeof *most);
	dw_auto_free uint64_t *all = calloc(threads_n, sizeof *all);

	if (!outermost || !elapsed || !most || !all)
		return;
	find_outermost(p, outermost);
	dw_vec_each(d, &p->calls.deltas)
		if (d->node < n)
			elapsed[outermost[d->node]] += d->values.elapsed_ns + 1;
	for (uint32_t id = 1; id < n && dw_calls_summed(&p->calls); id++)
		elapsed[outermost[id]] += dw_call_store_get(&p->calls.sums, id - 1).elapsed_ns + 1;
	for (uint32_t id = 1; id < n; id++) {
		const struct dw_call_node *node = dw_calls_get(&p->calls, id);
		struct dw_thread *t = dw_threads_get(&p->threads, node->thread);

		if (outermost[id] != id || !t)
			continue;
		all[node->thread] += elapsed[id];
		if (elapsed[id] <= most[node->thread])
			continue;
		most[node->thread] = elapsed[id];
		t->start = start_of_call(p, node);
	}
	for (uint32_t id = 1; id < threads_n; id++) {
		struct dw_thread *t = dw_threads_get(&p->threads, id);

		if (most[id] && !is_start(p, t, most[id], all[id]))
			t->start = 0;
	}
}

/* How often each thread was seen with each start, and how often with the one that it has. */
struct counts {
	struct dw_map seen; /* thread << 32 | function -> times */
	uint32_t *most;	    /* by thread */
};

/* @thread was seen below @start once more. 0 or -ENOMEM. */
static int note_start(struct dw_profile *p, struct counts *t, uint32_t thread, uint32_t start)
{
	struct dw_thread *th = dw_threads_get(&p->threads, thread);
	uint64_t key = (uint64_t)thread << 32 | start;
	uint32_t times;
	int rc;

	if (!start || !th)
		return 0;
	times = dw_map_get(&t->seen, key) + 1;
	rc = dw_map_put(&t->seen, key, times);
	if (!rc && times > t->most[thread]) {
		t->most[thread] = times;
		th->start = start;
	}
	return rc;
}

/* Threads with samples or extras begin with what was seen most often. */
static void find_starts_of_samples(struct dw_profile *p)
{
	dw_auto_free uint32_t *starts = starts_of_stacks(p);
	dw_auto_free uint32_t *most = calloc(dw_threads_count(&p->threads) + 1, sizeof *most);
	struct counts counts = {.most = most};
	int rc = starts && most ? 0 : -ENOMEM;

	for (size_t i = 0; i < p->samples.n && !rc; i++)
		rc = note_start(p, &counts, p->samples.thread[i], starts[p->samples.stack[i]]);
	for (size_t i = 0; i < p->extras.rows.n && !rc; i++) {
		const struct dw_extra *x = &p->extras.rows.v[i];

		rc = note_start(p, &counts, x->thread, starts[x->stack]);
	}
	dw_map_release(&counts.seen);
}

void dw_find_thread_starts(struct dw_profile *p)
{
	find_starts_of_calls(p);
	find_starts_of_samples(p);
}
