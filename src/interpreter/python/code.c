/*
 * Code objects; see code.h.
 */
#include "interpreter/python/code.h"

#include "interpreter/python/layout.h"

enum {
	OBJECT_SIZE = 16,
	BYTES_DATA = 32,
	TEXT_LENGTH = 16,
	TEXT_STATE = 32,
	TEXT_BYTES = 40,
	STATE_COMPACT = 1 << 5,
	STATE_ASCII = 1 << 6,
};

/* The characters of the text object at @at; none if it is not of the usual kind. */
static struct dw_interpreter_part find_text(const struct dw_python_layout *l,
					    struct dw_interpreter_memory *m, uint64_t at)
{
	struct dw_interpreter_part p = {0};
	uint64_t length;
	uint32_t state;

	if (at % sizeof(at) || !dw_interpreter_can_read(m, at, TEXT_BYTES))
		return p;
	length = dw_interpreter_word(m, at + TEXT_LENGTH);
	state = (uint32_t)dw_interpreter_word(m, at + TEXT_STATE);
	p.width = state >> 2 & 7;
	if (!(state & STATE_COMPACT) || (p.width != 1 && p.width != 2 && p.width != 4))
		return (struct dw_interpreter_part){0};
	if (length > DWELL_INTERPRETER_TEXT_MAX / p.width)
		length = DWELL_INTERPRETER_TEXT_MAX / p.width;
	p.at = at + (state & STATE_ASCII ? l->text_ascii : l->text_other);
	p.bytes = (uint32_t)length * p.width;
	return p;
}

/* The contents of the object of bytes at @at, none if they are too many. */
static struct dw_interpreter_part find_bytes(struct dw_interpreter_memory *m, uint64_t at)
{
	struct dw_interpreter_part p = {at + BYTES_DATA, 0, 1};
	uint64_t n;

	if (at % sizeof(at) || !dw_interpreter_can_read(m, at, BYTES_DATA))
		return p;
	n = dw_interpreter_word(m, at + OBJECT_SIZE);
	p.bytes = n <= DWELL_INTERPRETER_LINES_MAX ? (uint32_t)n : 0;
	return p;
}

static uint32_t code_bytes(const struct dw_python_layout *l, struct dw_interpreter_memory *m,
			   uint64_t code)
{
	uint64_t n = dw_interpreter_word(m, code + OBJECT_SIZE) * 2;

	if (l->position_kind != DWELL_PYTHON_POINTER) {
		uint64_t at = dw_interpreter_word(m, code + l->code_bytecode);

		n = at % sizeof(at) == 0 && dw_interpreter_can_read(m, at, BYTES_DATA)
			    ? dw_interpreter_word(m, at + OBJECT_SIZE)
			    : 0;
	}
	return n < INT32_MAX ? (uint32_t)n : 0;
}

void dw_python_describe(struct dw_interpreter_frames *f, uint64_t code,
			struct dw_interpreter_code *ret,
			struct dw_interpreter_part parts[DWELL_INTERPRETER_PARTS])
{
	const struct dw_python_layout *l = f->layout;
	struct dw_interpreter_memory *m = &f->memory;

	parts[DWELL_INTERPRETER_NAME] =
		find_text(l, m, dw_interpreter_word(m, code + l->code_shown));
	parts[DWELL_INTERPRETER_FILE] =
		find_text(l, m, dw_interpreter_word(m, code + l->code_file));
	parts[DWELL_INTERPRETER_LINES] =
		find_bytes(m, dw_interpreter_word(m, code + l->code_lines));
	ret->first_line = dw_interpreter_half(m, code + l->code_first_line);
	ret->code_bytes = code_bytes(l, m, code);
}
