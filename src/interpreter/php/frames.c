/*
 * Walking the frames of PHP; see frames.h.
 *
 * execute_ex() keeps the frame and the instruction that it is at in registers of its own, where
 * compilers allow that, and stores the latter only where something may ask for it. Source:
 * Zend/zend_execute.c, Zend/zend_vm_execute.skl.
 */
#include "interpreter/php/frames.h"

#include "interpreter/php/layout.h"

enum {
	/* Of frames, of all versions. */
	FRAME_OPLINE = 0,
	FRAME_FUNCTION = 24,
	FRAME_INFO = 40,
	FRAME_PREVIOUS = 48,
	FRAME_BYTES = 56,
	CALLED_FROM_C = 1 << 17,
	/* Of functions. */
	INTERNAL = 1, /* types */
	USER = 2,
	EVAL = 4,
	FUNCTION_NAME = 8,
	FUNCTION_SCOPE = 16,
	FUNCTION_HEAD = 24,
	FUNCTION_BYTES = 192,
	CLASS_NAME = 8,
	/* Of instructions. */
	OPLINE_LINE = 24,
	OPLINE_BYTES = 32,
	/* Of strings. */
	STRING_HASH = 8,
	STRING_BYTES = 16,
	STRING_DATA = 24,
	R14 = 14, /* the frame, */
	R15 = 15, /* and the instruction */
};

static uint8_t type_of(struct dw_interpreter_frames *f, uint64_t function)
{
	return (uint8_t)dw_interpreter_word(&f->memory, function);
}

static uint32_t first_line(struct dw_interpreter_frames *f, uint64_t function)
{
	const struct dw_php_layout *l = f->layout;

	return dw_interpreter_half(&f->memory, function + l->function_line);
}

/* How many lines the function at @function has. */
static uint32_t lines_of(struct dw_interpreter_frames *f, uint64_t function)
{
	const struct dw_php_layout *l = f->layout;
	uint32_t first = first_line(f, function);
	uint32_t last = dw_interpreter_half(&f->memory, function + l->function_line + 4);

	return last >= first && last - first < DWELL_INTERPRETER_LINES_MAX ? last - first + 1 : 0;
}

/* Where the frame at @frame, of @function, is: lines behind the function's first. */
static uint32_t position_of(struct dw_interpreter_frames *f, uint64_t frame, uint64_t function)
{
	const struct dw_php_layout *l = f->layout;
	uint64_t start = dw_interpreter_word(&f->memory, function + l->function_opcodes);
	uint64_t n = dw_interpreter_half(&f->memory, function + l->function_last), line;
	uint64_t at = dw_interpreter_word(&f->memory, frame + FRAME_OPLINE);

	if (f->registers && f->registers[R14] == frame &&
	    f->registers[R15] - start < n * OPLINE_BYTES)
		at = f->registers[R15];
	if (at - start >= n * OPLINE_BYTES ||
	    !dw_interpreter_load(&f->memory, at + OPLINE_LINE, &line))
		return DWELL_INTERPRETER_POSITION_NONE;
	line = (uint32_t)line - (uint64_t)first_line(f, function);
	return line < lines_of(f, function) ? (uint32_t)line : DWELL_INTERPRETER_POSITION_NONE;
}

/* A number for what the function at @function is, and *@ret_code for which: closures of one
 * expression have objects of their own and one code. */
static uint64_t seal_of(struct dw_interpreter_frames *f, uint64_t function, uint64_t *ret_code)
{
	const struct dw_php_layout *l = f->layout;
	struct dw_interpreter_memory *m = &f->memory;
	uint64_t name = dw_interpreter_word(m, function + FUNCTION_NAME);
	uint64_t scope = dw_interpreter_word(m, function + FUNCTION_SCOPE), code = function;
	uint64_t hash = dw_interpreter_mix(dw_interpreter_mix(1, name), scope), word;

	if (type_of(f, function) != INTERNAL) {
		code = dw_interpreter_word(m, function + l->function_opcodes);
		hash = dw_interpreter_mix(hash,
					  dw_interpreter_word(m, function + l->function_file));
		hash = dw_interpreter_mix(hash,
					  dw_interpreter_word(m, function + l->function_line));
		hash = dw_interpreter_mix(hash,
					  dw_interpreter_half(m, function + l->function_last));
		/* Methods of traits have their code in common, also under two names in one class.
		 */
		if (scope)
			code = dw_interpreter_mix(dw_interpreter_mix(code, scope), name);
	}
	*ret_code = code & ~(uint64_t)DWELL_INTERPRETER_FLAGS;
	for (int at = STRING_HASH; at <= STRING_BYTES; at += 8)
		if (name && dw_interpreter_load(m, name + at, &word))
			hash = dw_interpreter_mix(hash, word);
	return dw_interpreter_mix(hash, code) | 1;
}

/* Take in the frame at @at, which can be read. False: it is none. */
static bool take(struct dw_interpreter_frames *f, uint64_t at)
{
	uint64_t function = dw_interpreter_word(&f->memory, at + FRAME_FUNCTION), seal;
	struct dw_interpreter_frame row = {.position = DWELL_INTERPRETER_POSITION_NONE};
	uint8_t type;

	if (!function || function == f->type)
		return true; /* of a generator that is run, or no constructor */
	if (function % sizeof(function) ||
	    !dw_interpreter_can_read(&f->memory, function, FUNCTION_HEAD))
		return false;
	type = type_of(f, function);
	if (type != INTERNAL && ((type != USER && type != EVAL) ||
				 !dw_interpreter_can_read(&f->memory, function, FUNCTION_BYTES)))
		return false;
	if (type == INTERNAL && !dw_interpreter_word(&f->memory, function + FUNCTION_NAME)) {
		row.code = DWELL_INTERPRETER_SWITCH; /* a fiber begins */
	} else {
		seal = seal_of(f, function, &row.code);
		row.seal = (uint32_t)(seal >> 32);
		if (type != INTERNAL)
			row.position = position_of(f, at, function);
		f->met(f, &row, function, seal);
	}
	if (type != INTERNAL && dw_interpreter_half(&f->memory, at + FRAME_INFO) & CALLED_FROM_C)
		row.code |= DWELL_INTERPRETER_OUTERMOST;
	f->rows[f->n++] = row;
	return true;
}

static void read_frames(struct dw_interpreter_frames *f, uint64_t place)
{
	const struct dw_php_layout *l = f->layout;
	uint32_t links = 0;
	uint64_t at;

	f->n = 0;
	f->state = DWELL_INTERPRETER_TORN;
	dw_interpreter_memory_begin(&f->memory);
	if (!dw_interpreter_load(&f->memory, place + l->globals_frame, &at))
		return;
	while (at && f->n < DWELL_INTERPRETER_FRAMES_MAX &&
	       links++ < 2 * DWELL_INTERPRETER_FRAMES_MAX) {
		if (at % sizeof(at) || !dw_interpreter_can_read(&f->memory, at, FRAME_BYTES) ||
		    !take(f, at)) {
			f->n = 0;
			return;
		}
		at = dw_interpreter_word(&f->memory, at + FRAME_PREVIOUS);
	}
	f->state = at ? DWELL_INTERPRETER_DEEP : DWELL_INTERPRETER_WHOLE;
}

/* The characters of the string at @at, 0 = none. */
static struct dw_interpreter_part find_text(struct dw_interpreter_memory *m, uint64_t at)
{
	struct dw_interpreter_part p = {.width = 1};
	uint64_t n;

	if (!at || !dw_interpreter_load(m, at + STRING_BYTES, &n))
		return p;
	p.at = at + STRING_DATA;
	p.bytes = n < DWELL_INTERPRETER_TEXT_MAX ? (uint32_t)n : DWELL_INTERPRETER_TEXT_MAX;
	return p;
}

static void describe(struct dw_interpreter_frames *f, uint64_t function,
		     struct dw_interpreter_code *ret,
		     struct dw_interpreter_part parts[DWELL_INTERPRETER_PARTS])
{
	const struct dw_php_layout *l = f->layout;
	struct dw_interpreter_memory *m = &f->memory;
	uint64_t scope = dw_interpreter_word(m, function + FUNCTION_SCOPE), class_name;

	if (scope && dw_interpreter_load(m, scope + CLASS_NAME, &class_name))
		parts[DWELL_INTERPRETER_OWNER] = find_text(m, class_name);
	parts[DWELL_INTERPRETER_NAME] =
		find_text(m, dw_interpreter_word(m, function + FUNCTION_NAME));
	if (type_of(f, function) == INTERNAL)
		return;
	parts[DWELL_INTERPRETER_FILE] =
		find_text(m, dw_interpreter_word(m, function + l->function_file));
	ret->first_line = first_line(f, function);
	ret->code_bytes = lines_of(f, function);
}

const struct dw_interpreter_reader dw_php_reader = {read_frames, describe};
