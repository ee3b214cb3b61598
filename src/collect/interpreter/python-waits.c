/*
 * Frames from outside; see python-waits.h.
 *
 * The interpreter keeps the states of its threads in a list, the newest one first. Each has the
 * number that the kernel has for the thread or, before 3.11, the C library's, which leads to it; of
 * a thread that is only being made, none, or its maker's. Where all have been looked at, a thread
 * that is not there runs no Python until a newer state is.
 */
#include "collect/interpreter/python-waits.h"

#include "base/error.h"
#include "interpreter/python/layout.h"
#include "interpreter/python/frames.h"
#include "target/memory.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum {
	THREADS_MAX = 4096, /* that are looked at */
	TOLD_MAX = 4 << 20, /* bytes about functions in one look */
	/* Of the C library's record of a thread, x86-64: its number in the kernel. Source: glibc,
	 * nptl/descr.h; a debugger's library relies on it, too. */
	PTHREAD_TID = 720,
	RECORD_BYTES = sizeof(struct dw_interpreter_code) + 3 * DWELL_INTERPRETER_TEXT_MAX +
		       DWELL_INTERPRETER_LINES_MAX,
};

/* Reading one thread's frames. */
struct reading {
	struct dw_interpreter_frames frames;
	struct dw_python_waits *r;
	struct dw_interpreters *all;
	struct dw_interpreter_process *p;
	uint32_t told; /* bytes */
	int rc;
};

static bool copy_page(int32_t pid, uint64_t at, uint8_t ret[DWELL_INTERPRETER_PAGE])
{
	return dw_memory_read(pid, at, ret, DWELL_INTERPRETER_PAGE) == DWELL_INTERPRETER_PAGE;
}

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
static int find_states(struct reading *g, uint64_t state)
{
	struct dw_interpreter_threads *t = &g->p->threads;
	int rc = 0;

	t->newest = id_of(&g->frames, state);
	t->states.n = 0;
	dw_map_release(&t->by_tid);
	for (int i = 0; i < THREADS_MAX && state && !rc; i++) {
		uint32_t tid = tid_of(&g->frames, state);

		if (!tid || dw_map_get(&t->by_tid, tid))
			t->newest = 0; /* look again */
		rc = dw_vec_push(&t->states, state);
		if (!rc && tid)
			rc = dw_map_put(&t->by_tid, tid, (uint32_t)t->states.n);
		if (state % sizeof state)
			break;
		state = dw_interpreter_word(&g->frames.memory, state + DWELL_PYTHON_STATE_NEXT);
	}
	return rc;
}

/* The newest state of a thread of the first interpreter, 0 = it cannot be read. */
static uint64_t newest_state(struct reading *g)
{
	const struct dw_python_layout *l = layout_of(&g->frames);
	uint64_t at, state;

	if (!dw_interpreter_load(&g->frames.memory, g->p->told.data + l->runtime_interpreter,
				 &at) ||
	    !dw_interpreter_load(&g->frames.memory, at + l->interpreter_threads, &state))
		return 0;
	return state;
}

/* Where the state of @tid is, *@ret = 0: it has none. 0 or -ENOMEM. */
static int find_state(struct reading *g, pid_t tid, uint64_t *ret)
{
	struct dw_interpreter_threads *t = &g->p->threads;
	uint32_t row = dw_map_get(&t->by_tid, (uint32_t)tid);
	uint64_t newest;
	int rc = 0;

	*ret = row ? t->states.v[row - 1] : 0;
	if (*ret && tid_of(&g->frames, *ret) == (uint32_t)tid)
		return 0;
	newest = newest_state(g);
	if (newest && (*ret || !t->newest || id_of(&g->frames, newest) != t->newest))
		rc = find_states(g, newest);
	row = rc ? 0 : dw_map_get(&t->by_tid, (uint32_t)tid);
	*ret = row ? t->states.v[row - 1] : 0;
	return rc;
}

/* Take in what @frame's function is, unless that is known. */
static void take_function(struct dw_interpreter_frames *f, const struct dw_interpreter_frame *frame,
			  uint64_t object, uint64_t seal)
{
	struct reading *g = (struct reading *)f;
	uint32_t row = dw_map_get(&g->p->by_code, object), n = sizeof(struct dw_interpreter_code);
	struct dw_interpreter_part parts[DWELL_INTERPRETER_PARTS];
	struct dw_interpreter_code head;
	int rc;

	(void)seal;
	if (g->rc || g->told > TOLD_MAX || (row && g->p->codes.v[row - 1].seal == frame->seal))
		return;
	dw_interpreter_describe(f, frame, object, &head, parts);
	memcpy(g->r->record, &head, sizeof head);
	for (int i = 0; i < DWELL_INTERPRETER_PARTS; n += parts[i++].bytes)
		if (parts[i].bytes && dw_memory_read(f->memory.pid, parts[i].at, g->r->record + n,
						     parts[i].bytes) != (ssize_t)parts[i].bytes)
			return; /* it has no name then */
	g->told += n;
	rc = dw_interpreter_tell(g->all, g->p, g->r->record, n);
	g->rc = rc == -ENOMEM ? rc : 0;
}

static int prepare(struct dw_python_waits *r)
{
	r->n = 0;
	r->is_told = false;
	if (!r->copies)
		r->copies = malloc(sizeof *r->copies);
	if (!r->frames)
		r->frames = calloc(DWELL_INTERPRETER_FRAMES_MAX, sizeof *r->frames);
	if (!r->record)
		r->record = malloc(RECORD_BYTES);
	return r->copies && r->frames && r->record ? 0 : -ENOMEM;
}

int dw_python_waits_read(struct dw_python_waits *r, struct dw_interpreters *all,
			 struct dw_interpreter_process *p, pid_t pid, pid_t tid)
{
	struct reading g = {.frames = {.reader = &dw_python_reader,
				       .layout = dw_python_layout(p->told.version),
				       .type = p->told.type,
				       .memory = {.copy = copy_page, .pid = pid},
				       .met = take_function},
			    .r = r,
			    .all = all,
			    .p = p,
			    .rc = prepare(r)};
	uint64_t state;

	if (g.rc || !g.frames.layout)
		return g.rc;
	g.frames.memory.copies = r->copies;
	g.frames.rows = r->frames;
	dw_interpreter_memory_begin(&g.frames.memory);
	g.rc = find_state(&g, tid, &state);
	if (g.rc || !state)
		return g.rc;
	dw_python_reader.read(&g.frames, state);
	r->n = g.frames.n;
	r->state = g.frames.state;
	r->is_told = true;
	return g.rc;
}

void dw_python_waits_release(struct dw_python_waits *r)
{
	free(r->copies);
	free(r->frames);
	free(r->record);
	*r = (struct dw_python_waits){0};
}
