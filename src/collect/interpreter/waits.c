/*
 * Frames from outside; see waits.h.
 */
#include "collect/interpreter/waits.h"

#include "base/error.h"
#include "collect/interpreter/python-states.h"
#include "interpreter/php/build.h"
#include "interpreter/php/frames.h"
#include "interpreter/python/frames.h"
#include "interpreter/python/layout.h"
#include "interpreter/ruby/frames.h"
#include "interpreter/ruby/layout.h"
#include "target/memory.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum {
	TOLD_MAX = 4 << 20, /* bytes about functions in one look */
	RECORD_BYTES = sizeof(struct dw_interpreter_code) + 3 * DWELL_INTERPRETER_TEXT_MAX +
		       DWELL_INTERPRETER_LINES_MAX,
};

/* Reading one thread's frames. */
struct reading {
	struct dw_interpreter_frames frames;
	struct dw_interpreter_waits *r;
	struct dw_interpreters *all;
	struct dw_interpreter_process *p;
	uint32_t told; /* bytes */
	int rc;
};

static bool copy_page(int32_t pid, uint64_t at, uint8_t ret[DWELL_INTERPRETER_PAGE])
{
	return dw_memory_read(pid, at, ret, DWELL_INTERPRETER_PAGE) == DWELL_INTERPRETER_PAGE;
}

/* Take in what @frame's function is, unless that is known. */
static void take_function(struct dw_interpreter_frames *f, const struct dw_interpreter_frame *frame,
			  uint64_t object, uint64_t seal)
{
	struct reading *g = (struct reading *)f;
	uint64_t code = frame->code & ~(uint64_t)DWELL_INTERPRETER_FLAGS;
	uint32_t row = dw_map_get(&g->p->by_code, code), n = sizeof(struct dw_interpreter_code);
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

static int prepare(struct dw_interpreter_waits *r)
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

/* Where the frames of @th begin, *@ret = 0: it has none, or that is not known. 0 or -ENOMEM. */
static int find_place(struct reading *g, const struct dw_waiting_thread *th, uint64_t *ret)
{
	const struct dw_interpreter_runtime *told = &g->p->told;

	*ret = 0;
	switch (told->language) {
	case DWELL_PYTHON:
		return dw_python_state(&g->frames, g->p, th->tid, ret);
	case DWELL_PHP: /* of the main thread alone */
		*ret = th->tid == th->pid ? told->data : 0;
		return 0;
	case DWELL_RUBY:
		if (th->pointer &&
		    !dw_interpreter_load(&g->frames.memory, th->pointer + told->data, ret))
			*ret = 0;
		return 0;
	default:
		return 0;
	}
}

/* How the interpreter's memory is read. False: it is not known. */
static bool find_reader(struct dw_interpreter_frames *f, const struct dw_interpreter_runtime *told)
{
	const struct dw_php_layout *php = NULL;

	f->data = told->data;
	f->type = told->type;
	switch (told->language) {
	case DWELL_PYTHON:
		f->reader = &dw_python_reader;
		f->layout = dw_python_layout(told->version);
		break;
	case DWELL_PHP:
		f->reader = &dw_php_reader;
		if (told->version)
			php = dw_php_layout_of(told->version);
		else if (!dw_php_identify(&f->memory, told->modules, &php))
			return false;
		f->layout = php;
		break;
	case DWELL_RUBY:
		f->reader = &dw_ruby_reader;
		f->layout = dw_ruby_layout(told->version);
		break;
	default:
		break;
	}
	return f->layout;
}

int dw_interpreter_waits_read(struct dw_interpreter_waits *r, struct dw_interpreters *all,
			      struct dw_interpreter_process *p, const struct dw_waiting_thread *th)
{
	struct reading g = {
		.frames = {.memory = {.copy = copy_page, .pid = th->pid}, .met = take_function},
		.r = r,
		.all = all,
		.p = p,
		.rc = prepare(r)};
	uint64_t place;

	if (g.rc)
		return g.rc;
	g.frames.memory.copies = r->copies;
	g.frames.rows = r->frames;
	dw_interpreter_memory_begin(&g.frames.memory);
	if (!find_reader(&g.frames, &p->told))
		return 0;
	g.rc = find_place(&g, th, &place);
	if (g.rc || !place)
		return g.rc;
	g.frames.reader->read(&g.frames, place);
	r->n = g.frames.n;
	r->state = g.frames.state;
	r->is_told = true;
	return g.rc;
}

void dw_interpreter_waits_release(struct dw_interpreter_waits *r)
{
	free(r->copies);
	free(r->frames);
	free(r->record);
	*r = (struct dw_interpreter_waits){0};
}
