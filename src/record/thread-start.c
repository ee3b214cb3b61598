/*
 * Start routines; see thread-start.h. A thread's outermost frames are clone's and start_thread's,
 * the main thread's are _start's and __libc_start_main's: the C library mostly has no symbols for
 * them, so its module name decides.
 */
#include "record/thread-start.h"

#include "base/cleanup.h"

#include <stdlib.h>
#include <string.h>

static bool is_start_code(const struct dw_profile *p, const struct dw_function *f)
{
	static const char *const prefixes[] = {"libc.so",  "libc-2", "libpthread",
					       "ld-linux", "ld-2",   "ld-musl"};
	const struct dw_module *m = dw_modules_get(&p->modules, f->module);
	const char *name = m ? dw_strings_get(&p->strings, m->name) : "";

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

/* The outermost function of @stack that is the program's own, 0 = none or the stack was cut. */
static uint32_t start_of_stack(const struct dw_profile *p, uint32_t stack)
{
	const struct dw_stack *s;
	uint32_t start = 0;

	for (; (s = dw_stacks_get(&p->stacks, stack)); stack = s->parent) {
		if (dw_frames_get(&p->frames, s->frame)->kind == DWELL_FRAME_CUT)
			return 0;
		start = start_at_frame(p, s->frame, start);
	}
	return start;
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

/* Threads with calls begin with what took most of their time. */
static void find_starts_of_calls(struct dw_profile *p)
{
	size_t n = (size_t)dw_calls_count(&p->calls) + 1;
	dw_auto_free uint32_t *outermost = calloc(n, sizeof *outermost);
	dw_auto_free uint64_t *elapsed = calloc(n, sizeof *elapsed);
	dw_auto_free uint64_t *most = calloc(dw_threads_count(&p->threads) + 1, sizeof *most);

	if (!outermost || !elapsed || !most)
		return;
	find_outermost(p, outermost);
	dw_vec_each(d, &p->calls.deltas)
		if (d->node < n)
			elapsed[outermost[d->node]] += d->values.elapsed_ns + 1;
	for (uint32_t id = 1; id < n && dw_calls_summed(&p->calls); id++)
		elapsed[outermost[id]] += p->calls.sums.plain.v[id - 1].elapsed_ns + 1;
	for (uint32_t id = 1; id < n; id++) {
		const struct dw_call_node *node = dw_calls_get(&p->calls, id);
		struct dw_thread *t = dw_threads_get(&p->threads, node->thread);

		if (outermost[id] != id || !t || elapsed[id] <= most[node->thread])
			continue;
		most[node->thread] = elapsed[id];
		t->start = start_of_call(p, node);
	}
}

void dw_find_thread_starts(struct dw_profile *p)
{
	find_starts_of_calls(p);
	for (size_t i = 0; i < p->samples.n; i++) {
		struct dw_thread *t = dw_threads_get(&p->threads, p->samples.thread[i]);

		if (t && !t->start)
			t->start = start_of_stack(p, p->samples.stack[i]);
	}
}
