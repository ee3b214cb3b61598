/*
 * Instruction sequences; see code.h.
 *
 * Rows of lines are found by the rank of an instruction among those that begin a row: a set of bits
 * with counts beside it. Source: iseq.c (succ_index_lookup), symbol.c, rstring.h, rarray.h.
 */
#include "interpreter/ruby/code.h"

#include "interpreter/ruby/layout.h"

enum {
	BODY = 16,
	BODY_BYTES = 160,
	/* Of the table of lines. */
	LINES_N = 16,
	LINES_INDEX = 24,
	/* Of the set of bits. */
	SMALL_N = 54, /* instructions whose ranks stand in words of their own, nine a word, */
	SMALL_EACH = 9,
	SMALL_BITS = 7, /* in so many bits */
	BLOCKS = 48,	/* the others */
	BLOCK_BYTES = 80,
	BLOCK_N = 512,
	BLOCK_RANKS = 8,
	BLOCK_SETS = 16,
	RANK_BITS = 9,
	/* Of objects. */
	TYPE_MASK = 0x1f,
	STRING = 5,
	ARRAY = 7,
	INTERNAL = 0x1a,
	KIND_SHIFT = 12,
	KIND_MASK = 15,
	METHOD = 6,
	CODE = 7,
	IS_FLAGGED = 1 << 13, /* a string: it is long, an array: it is short */
	LENGTH_SHIFT = 14,
	DATA = 16,
	LENGTH = 16,
	STRING_POINTER = 24,
	ARRAY_POINTER = 32,
	/* Of names: those of operators are their numbers, others have their kind in the low bits.
	 */
	OPERATORS = 256,
	KIND_BITS = 4,
	NAMES_EACH = 512, /* a piece of the table, two objects a name */
};

static bool is_internal(struct dw_interpreter_frames *f, uint64_t at, uint32_t kind)
{
	uint64_t flags;

	return at && dw_interpreter_load(&f->memory, at, &flags) &&
	       (flags & TYPE_MASK) == INTERNAL && (flags >> KIND_SHIFT & KIND_MASK) == kind;
}

bool dw_ruby_is_code(struct dw_interpreter_frames *f, uint64_t at, uint64_t *ret_body)
{
	return is_internal(f, at, CODE) && dw_interpreter_load(&f->memory, at + BODY, ret_body) &&
	       *ret_body % sizeof(*ret_body) == 0 &&
	       dw_interpreter_can_read(&f->memory, *ret_body, BODY_BYTES);
}

bool dw_ruby_is_method(struct dw_interpreter_frames *f, uint64_t at)
{
	return is_internal(f, at, METHOD) &&
	       dw_interpreter_can_read(&f->memory, at, DWELL_RUBY_METHOD_BYTES);
}

static uint32_t ones(uint64_t word)
{
	uint32_t n = 0;

	for (; word; word &= word - 1)
		n++;
	return n;
}

/* How many rows of lines begin at or before instruction @x, by the set of bits at @set. */
static uint32_t rank_of(struct dw_interpreter_frames *f, uint64_t set, uint64_t x)
{
	uint64_t block, word, ranks, part;

	if (x < SMALL_N) {
		if (!dw_interpreter_load(&f->memory, set + x / SMALL_EACH * sizeof(word), &word))
			return 0;
		return word >> x % SMALL_EACH * SMALL_BITS & ((1 << SMALL_BITS) - 1);
	}
	x -= SMALL_N;
	block = set + BLOCKS + x / BLOCK_N * BLOCK_BYTES;
	part = x % BLOCK_N / 64;
	if (!dw_interpreter_load(&f->memory, block + BLOCK_RANKS, &ranks) ||
	    !dw_interpreter_load(&f->memory, block + BLOCK_SETS + part * sizeof(word), &word))
		return 0;
	ranks = part ? ranks >> (part - 1) * RANK_BITS & ((1 << RANK_BITS) - 1) : 0;
	return dw_interpreter_half(&f->memory, block) + (uint32_t)ranks +
	       ones(word << (63 - x % 64));
}

static uint32_t first_line(struct dw_interpreter_frames *f, uint64_t body)
{
	const struct dw_ruby_layout *l = f->layout;
	uint64_t word = dw_interpreter_word(&f->memory, body + DWELL_RUBY_CODE_LINE);

	return (uint32_t)(l->has_number ? word : word >> 1);
}

static uint32_t lines_of(struct dw_interpreter_frames *f, uint64_t body)
{
	const struct dw_ruby_layout *l = f->layout;
	uint32_t first = first_line(f, body);
	uint32_t last = dw_interpreter_half(&f->memory, body + l->code_last);

	return last >= first && last - first < DWELL_INTERPRETER_LINES_MAX ? last - first + 1 : 0;
}

uint32_t dw_ruby_position(struct dw_interpreter_frames *f, uint64_t body, uint64_t pc)
{
	const struct dw_ruby_layout *l = f->layout;
	struct dw_interpreter_memory *m = &f->memory;
	uint64_t start = dw_interpreter_word(m, body + DWELL_RUBY_CODE_FIRST);
	uint64_t n = dw_interpreter_half(m, body + DWELL_RUBY_CODE_BYTES);
	uint64_t rows = dw_interpreter_word(m, body + l->code_lines), at = (pc - start) / 8;
	uint32_t rows_n = dw_interpreter_half(m, body + l->code_lines + LINES_N), rank = 1, line;

	if (pc - start > n * 8)
		return DWELL_INTERPRETER_POSITION_NONE;
	if (rows_n > 1) /* pc is behind the instruction that runs */
		rank = rank_of(f, dw_interpreter_word(m, body + l->code_lines + LINES_INDEX),
			       at ? at - 1 : 0);
	if (!rank || rank > rows_n)
		return DWELL_INTERPRETER_POSITION_NONE;
	rows += (uint64_t)(rank - 1) * l->line_bytes;
	if (rows % sizeof(line) || !dw_interpreter_can_read(m, rows, sizeof(line)))
		return DWELL_INTERPRETER_POSITION_NONE;
	line = dw_interpreter_half(m, rows) - first_line(f, body);
	return line < lines_of(f, body) ? line : DWELL_INTERPRETER_POSITION_NONE;
}

static bool is_type(struct dw_interpreter_frames *f, uint64_t at, uint32_t type,
		    uint64_t *ret_flags)
{
	return at % sizeof(at) == 0 && dw_interpreter_can_read(&f->memory, at, ARRAY_POINTER) &&
	       dw_interpreter_load(&f->memory, at, ret_flags) && (*ret_flags & TYPE_MASK) == type;
}

/* The characters of the string at @at; none if it is no string. */
static struct dw_interpreter_part find_text(struct dw_interpreter_frames *f, uint64_t at)
{
	const struct dw_ruby_layout *l = f->layout;
	struct dw_interpreter_part p = {.width = 1};
	uint64_t flags, n;

	if (!is_type(f, at, STRING, &flags))
		return p;
	n = dw_interpreter_word(&f->memory, at + LENGTH);
	p.at = dw_interpreter_word(&f->memory, at + STRING_POINTER);
	if (!(flags & IS_FLAGGED)) {
		p.at = at + l->text_data;
		n = l->has_length ? n : flags >> LENGTH_SHIFT & TYPE_MASK;
	}
	p.bytes = n < DWELL_INTERPRETER_TEXT_MAX ? (uint32_t)n : DWELL_INTERPRETER_TEXT_MAX;
	return p;
}

/* Element @i of the array at @at, 0 = it is none, or not known to be so long. */
static uint64_t element(struct dw_interpreter_frames *f, uint64_t at, uint64_t i)
{
	uint64_t flags, word;

	if (!is_type(f, at, ARRAY, &flags))
		return 0;
	if (!(flags & IS_FLAGGED)) {
		if (i >= dw_interpreter_word(&f->memory, at + LENGTH) ||
		    !dw_interpreter_load(&f->memory, at + ARRAY_POINTER, &at))
			return 0;
	} else {
		at += DATA;
	}
	return dw_interpreter_load(&f->memory, at + i * sizeof(word), &word) ? word : 0;
}

/* The name with the number @id. */
static struct dw_interpreter_part find_name(struct dw_interpreter_frames *f, uint64_t id)
{
	uint64_t serial = id < OPERATORS ? id : id >> KIND_BITS, names;

	if (!dw_interpreter_load(&f->memory, f->type, &names))
		return (struct dw_interpreter_part){.width = 1};
	return find_text(
		f, element(f, element(f, names, serial / NAMES_EACH), serial % NAMES_EACH * 2));
}

void dw_ruby_describe(struct dw_interpreter_frames *f, uint64_t object,
		      struct dw_interpreter_code *ret,
		      struct dw_interpreter_part parts[DWELL_INTERPRETER_PARTS])
{
	struct dw_interpreter_memory *m = &f->memory;
	uint64_t body, path;

	if (!dw_ruby_is_code(f, object, &body)) {
		parts[DWELL_INTERPRETER_NAME] =
			find_name(f, dw_interpreter_word(m, object + DWELL_RUBY_METHOD_NAME));
		return;
	}
	parts[DWELL_INTERPRETER_NAME] =
		find_text(f, dw_interpreter_word(m, body + DWELL_RUBY_CODE_LABEL));
	/* A path as it was given, or with the real one behind it. */
	path = dw_interpreter_word(m, body + DWELL_RUBY_CODE_PATH);
	parts[DWELL_INTERPRETER_FILE] = find_text(f, element(f, path, 1));
	if (!parts[DWELL_INTERPRETER_FILE].bytes)
		parts[DWELL_INTERPRETER_FILE] = find_text(f, element(f, path, 0));
	if (!parts[DWELL_INTERPRETER_FILE].bytes)
		parts[DWELL_INTERPRETER_FILE] = find_text(f, path);
	ret->first_line = first_line(f, body);
	ret->code_bytes = lines_of(f, body);
}
