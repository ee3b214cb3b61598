/*
 * Walking the frames of Ruby; see frames.h. Source: vm_core.h.
 */
#include "interpreter/ruby/frames.h"

#include "interpreter/ruby/code.h"
#include "interpreter/ruby/layout.h"

enum {
	/* Of the execution context. */
	STACK = 0,
	STACK_WORDS = 8,
	NEWEST = 16,
	STACK_BYTES_MAX = 1 << 28,
	/* Of frames, of all versions. */
	FRAME_PC = 0,
	FRAME_CODE = 16,
	FRAME_ENVIRONMENT = 32,
	/* Of environments, words below the last one. */
	METHOD = 16,
	FLAGS_MASK = 0x7fff0001,
	IN_C = 0x55550001,
	DUMMY = 0x79990001, /* where a stack begins */
	CALLED_FROM_C = 0x20,
};

/* Take in the frame of a method in C whose environment is at @environment. */
static void take_method(struct dw_interpreter_frames *f, uint64_t environment)
{
	struct dw_interpreter_frame row = {.position = DWELL_INTERPRETER_POSITION_NONE};
	uint64_t method, seal;

	if (!f->type || !dw_interpreter_load(&f->memory, environment - METHOD, &method) ||
	    !dw_ruby_is_method(f, method))
		return;
	seal = dw_interpreter_mix(
		       dw_interpreter_mix(1, method),
		       dw_interpreter_word(&f->memory, method + DWELL_RUBY_METHOD_NAME)) |
	       1;
	row.code = method;
	row.seal = (uint32_t)(seal >> 32);
	f->met(f, &row, method, seal);
	f->rows[f->n++] = row;
}

static uint64_t seal_of(struct dw_interpreter_frames *f, uint64_t code, uint64_t body)
{
	static const uint8_t parts[] = {0, DWELL_RUBY_CODE_FIRST, DWELL_RUBY_CODE_PATH,
					DWELL_RUBY_CODE_LABEL, DWELL_RUBY_CODE_LINE};
	uint64_t hash = dw_interpreter_mix(dw_interpreter_mix(1, code), body);

	for (uint32_t i = 0; i < sizeof(parts); i++)
		hash = dw_interpreter_mix(hash, dw_interpreter_word(&f->memory, body + parts[i]));
	return hash | 1;
}

/* Take in the frame at @at. False: it is none. */
static bool take(struct dw_interpreter_frames *f, uint64_t at)
{
	struct dw_interpreter_memory *m = &f->memory;
	uint64_t pc = dw_interpreter_word(m, at + FRAME_PC), body, flags, seal;
	uint64_t code = dw_interpreter_word(m, at + FRAME_CODE);
	uint64_t environment = dw_interpreter_word(m, at + FRAME_ENVIRONMENT);
	struct dw_interpreter_frame row;

	if (!dw_interpreter_load(m, environment, &flags))
		return false;
	if (!pc || !code || (flags & FLAGS_MASK) == DUMMY) {
		if ((flags & FLAGS_MASK) == IN_C)
			take_method(f, environment);
		return true;
	}
	if (!dw_ruby_is_code(f, code, &body))
		return false;
	seal = seal_of(f, code, body);
	row = (struct dw_interpreter_frame){code, dw_ruby_position(f, body, pc),
					    (uint32_t)(seal >> 32)};
	f->met(f, &row, code, seal);
	if (flags & CALLED_FROM_C)
		row.code |= DWELL_INTERPRETER_OUTERMOST;
	f->rows[f->n++] = row;
	return true;
}

static void read_frames(struct dw_interpreter_frames *f, uint64_t place)
{
	const struct dw_ruby_layout *l = f->layout;
	uint64_t stack, words, at, end;
	uint32_t links = 0;

	f->n = 0;
	f->state = DWELL_INTERPRETER_TORN;
	dw_interpreter_memory_begin(&f->memory);
	if (!dw_interpreter_load(&f->memory, place + STACK, &stack) ||
	    !dw_interpreter_load(&f->memory, place + STACK_WORDS, &words) ||
	    !dw_interpreter_load(&f->memory, place + NEWEST, &at) ||
	    words > STACK_BYTES_MAX / sizeof(words) || at < stack)
		return;
	end = stack + words * sizeof(words);
	for (; at + l->frame_bytes <= end && f->n < DWELL_INTERPRETER_FRAMES_MAX &&
	       links++ < 2 * DWELL_INTERPRETER_FRAMES_MAX;
	     at += l->frame_bytes)
		if (at % sizeof(at) || !dw_interpreter_can_read(&f->memory, at, l->frame_bytes) ||
		    !take(f, at)) {
			f->n = 0;
			return;
		}
	f->state = at + l->frame_bytes <= end ? DWELL_INTERPRETER_DEEP : DWELL_INTERPRETER_WHOLE;
}

const struct dw_interpreter_reader dw_ruby_reader = {read_frames, dw_ruby_describe};
