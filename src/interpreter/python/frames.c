/*
 * Walking the frames of CPython; see frames.h.
 *
 * Versions that reach the innermost frame by a record on the C stack (cframe) enter that before it
 * is filled in: what it leads to then is whatever lay there, and the record before it has the
 * frames. Source: Python/ceval.c of each version.
 */
#include "interpreter/python/frames.h"

#include "interpreter/python/code.h"
#include "interpreter/python/layout.h"

enum {
	OBJECT_TYPE = 8,
	OBJECT_SIZE = 16,
	TEXT_HASH = 24,
	CODE_BYTES = 216,
	OWNED_BY_C = 3, /* a frame's owner */
};

static bool is_code(struct dw_interpreter_frames *f, uint64_t at)
{
	return at && at % sizeof(at) == 0 && dw_interpreter_can_read(&f->memory, at, CODE_BYTES) &&
	       dw_interpreter_word(&f->memory, at + OBJECT_TYPE) == f->type;
}

/* A number for what the code object at @code is, which can be read. */
static uint64_t seal_of(struct dw_interpreter_frames *f, uint64_t code)
{
	const struct dw_python_layout *l = f->layout;
	uint64_t hash = dw_interpreter_mix(1, code), name;

	for (int i = 0; i < 2; i++)
		for (uint32_t at = l->sealed[i][0]; at < l->sealed[i][1]; at += 8)
			hash = dw_interpreter_mix(hash, dw_interpreter_word(&f->memory, code + at));
	if (l->seals_name &&
	    dw_interpreter_load(&f->memory,
				dw_interpreter_word(&f->memory, code + l->code_name) + TEXT_HASH,
				&name))
		hash = dw_interpreter_mix(hash, name);
	return hash | 1;
}

/* How far the frame at @frame has come in @code. */
static uint32_t position_of(struct dw_interpreter_frames *f, uint64_t frame, uint64_t code)
{
	const struct dw_python_layout *l = f->layout;
	uint64_t word = dw_interpreter_word(&f->memory, frame + l->frame_position), at;

	if (l->position_kind == DWELL_PYTHON_POINTER) {
		at = word - (code + l->code_bytecode);
		return at < dw_interpreter_word(&f->memory, code + OBJECT_SIZE) * 2 &&
				       at < INT32_MAX
			       ? (uint32_t)at
			       : DWELL_INTERPRETER_POSITION_NONE;
	}
	at = (uint32_t)word;
	if (at >= INT32_MAX / 2)
		return DWELL_INTERPRETER_POSITION_NONE;
	return (uint32_t)(l->position_kind == DWELL_PYTHON_UNITS ? at * 2 : at);
}

/* Read the frame at *@frame, and go to the one that called it. False: it is none. */
static bool next(struct dw_interpreter_frames *f, uint64_t *frame, struct dw_interpreter_frame *ret,
		 uint64_t *ret_seal)
{
	const struct dw_python_layout *l = f->layout;
	const uint64_t at = *frame;
	uint8_t mark;
	uint64_t code;

	if (at % sizeof(at) || !dw_interpreter_can_read(&f->memory, at, l->frame_bytes))
		return false;
	*ret = (struct dw_interpreter_frame){.code = DWELL_INTERPRETER_OUTERMOST};
	*ret_seal = 0;
	*frame = dw_interpreter_word(&f->memory, at + l->frame_previous);
	mark = (uint8_t)(dw_interpreter_word(&f->memory, (at + l->frame_mark) & -(uint64_t)8) >>
			 (l->frame_mark % 8 * 8));
	if (l->has_base && mark == OWNED_BY_C)
		return true;
	code = dw_interpreter_word(&f->memory, at + l->frame_code);
	if (!is_code(f, code))
		return false;
	*ret_seal = seal_of(f, code);
	ret->code = code;
	ret->position = position_of(f, at, code);
	ret->seal = (uint32_t)(*ret_seal >> 32);
	if (l->is_eval_own || (!l->has_base && mark))
		ret->code |= DWELL_INTERPRETER_OUTERMOST;
	return true;
}

/* Take in the frames from @frame on, and tell of what they are. False: they do not end as they
 * must. */
static bool take_all(struct dw_interpreter_frames *f, uint64_t frame)
{
	struct dw_interpreter_frame row = {.code = DWELL_INTERPRETER_OUTERMOST};
	uint64_t seal;

	f->n = 0;
	while (frame && f->n < DWELL_INTERPRETER_FRAMES_MAX) {
		if (!next(f, &frame, &row, &seal))
			return false;
		if (row.code & ~(uint64_t)DWELL_INTERPRETER_FLAGS)
			f->met(f, &row, row.code & ~(uint64_t)DWELL_INTERPRETER_FLAGS, seal);
		f->rows[f->n++] = row;
	}
	if (frame)
		f->state = DWELL_INTERPRETER_DEEP;
	return frame || row.code & DWELL_INTERPRETER_OUTERMOST;
}

/* Where the frames of the thread with the state @state begin, or, not @is_newest, began before its
 * last call from C. */
static bool find_first(struct dw_interpreter_frames *f, uint64_t state, bool is_newest,
		       uint64_t *ret)
{
	const struct dw_python_layout *l = f->layout;

	if (!dw_interpreter_load(&f->memory, state + l->state_frame, ret))
		return false;
	if (!l->has_cframe)
		return true;
	if (!is_newest && !dw_interpreter_load(&f->memory, *ret + l->cframe_previous, ret))
		return false;
	return dw_interpreter_load(&f->memory, *ret + l->cframe_frame, ret);
}

static void read_frames(struct dw_interpreter_frames *f, uint64_t state)
{
	const struct dw_python_layout *l = f->layout;
	uint64_t first;

	f->state = DWELL_INTERPRETER_WHOLE;
	dw_interpreter_memory_begin(&f->memory);
	if ((find_first(f, state, true, &first) && take_all(f, first)) ||
	    (l->has_cframe && find_first(f, state, false, &first) && take_all(f, first)))
		return;
	f->state = DWELL_INTERPRETER_TORN;
	f->n = 0;
}

const struct dw_interpreter_reader dw_python_reader = {read_frames, dw_python_describe};
