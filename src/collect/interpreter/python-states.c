/*
 * States of threads; see python-states.h.
 */
#include "collect/interpreter/python-states.h"

#include "interpreter/python/layout.h"

#include <errno.h>
#include <stdlib.h>

enum {
	THREADS_MAX = 4096, /* that are looked at */
	/* Of the C library's record of a thread, x86-64: its number in the kernel. Source: glibc,
	 * nptl/descr.h; a debugger's library relies on it, too. */
	PTHREAD_TID = 720,
};

struct looking {
	struct dw_interpreter_frames *f;
	struct dw_interpreter_process *p;
};

static const struct dw_python_layout *layout_of(const struct dw_interpreter_frames *f)
{
	return f->layout;
}

/* The thread whose state is at @state, 0 = none. */
static uint32_t tid_of(struct dw_interpreter_frames *f, uint64_t state)
{
	uint64_t thread;

	if (state % sizeof state)
		return 0;
	if (layout_of(f)->state_native)
		return dw_interpreter_half(&f->memory, state + layout_of(f)->state_native);
	thread = dw_interpreter_word(&f->memory, state + layout_of(f)->state_thread);
	return thread % sizeof thread ? 0 : dw_interpreter_half(&f->memory, thread + PTHREAD_TID);
}

/* The number that no other state has, or had. */
static uint64_t id_of(struct dw_interpreter_frames *f, uint64_t state)
{
	return state % sizeof state
		       ? 0
		       : dw_interpreter_word(&f->memory, state + layout_of(f)->state_id);
}

/* Note where the states of all threads are, the newest of which is at @state. */
static int find_states(struct looking *g, uint64_t state)
{
	struct dw_interpreter_threads *t = &g->p->threads;
	int rc = 0;

	t->newest = id_of(g->f, state);
	t->states.n = 0;
	dw_map_release(&t->by_tid);
	for (int i = 0; i < THREADS_MAX && state && !rc; i++) {
		uint32_t tid = tid_of(g->f, state);

		if (!tid || dw_map_get(&t->by_tid, tid))
			t->newest = 0; /* look again */
		rc = dw_vec_push(&t->states, state);
		if (!rc && tid)
			rc = dw_map_put(&t->by_tid, tid, (uint32_t)t->states.n);
		if (state % sizeof state)
			break;
		state = dw_interpreter_word(&g->f->memory, state + DWELL_PYTHON_STATE_NEXT);
	}
	return rc;
}

/* The newest state of a thread of the first interpreter, 0 = it cannot be read. */
static uint64_t newest_state(struct looking *g)
{
	const struct dw_python_layout *l = layout_of(g->f);
	uint64_t at, state;

	if (!dw_interpreter_load(&g->f->memory, g->p->told.data + l->runtime_interpreter, &at) ||
	    !dw_interpreter_load(&g->f->memory, at + l->interpreter_threads, &state))
		return 0;
	return state;
}

int dw_python_state(struct dw_interpreter_frames *f, struct dw_interpreter_process *p, pid_t tid,
		    uint64_t *ret)
{
	struct looking looking = {f, p}, *g = &looking;
	struct dw_interpreter_threads *t = &p->threads;
	uint32_t row = dw_map_get(&t->by_tid, (uint32_t)tid);
	uint64_t newest;
	int rc = 0;

	*ret = row ? t->states.v[row - 1] : 0;
	if (*ret && tid_of(g->f, *ret) == (uint32_t)tid)
		return 0;
	newest = newest_state(g);
	if (newest && (*ret || !t->newest || id_of(g->f, newest) != t->newest))
		rc = find_states(g, newest);
	row = rc ? 0 : dw_map_get(&t->by_tid, (uint32_t)tid);
	*ret = row ? t->states.v[row - 1] : 0;
	return rc;
}
