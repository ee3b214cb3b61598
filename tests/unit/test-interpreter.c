/*
 * What is told of interpreters: tables of lines and texts (src/code/python/line-table.c), records
 * of functions (src/collect/interpreter/interpreter.c), and merging
 * (src/collect/samples/interpreter-stack.c).
 */
#include "base/cleanup.h"
#include "base/error.h"
#include "check.h"
#include "code/python/line-table.h"
#include "collect/samples/interpreter-stack.h"

#include <stdlib.h>
#include <string.h>

/*
 * One function, with a comprehension, try, while, with and a call over two lines, as the compilers
 * of three versions made it, and the lines that each says that it has (co_lines(), or
 * dis.findlinestarts() of 3.9).
 */
/* 3.9.18 */
static const uint8_t pairs[] = {0,  1, 18, 1, 4, 1, 4,	1, 2, 255, 8,  2, 12, 1, 12, 2,
				12, 2, 4,  1, 8, 1, 12, 1, 6, 1,   38, 1, 2,  1, 2,  255};
static const struct dw_python_lines pairs_lines[] = {
	{0, 18, 72},	{18, 22, 73},	{22, 26, 74},	{26, 28, 75},  {28, 36, 74}, {36, 48, 76},
	{48, 60, 77},	{60, 72, 79},	{72, 76, 81},	{76, 84, 82},  {84, 96, 83}, {96, 102, 84},
	{102, 140, 85}, {140, 142, 86}, {142, 144, 87}, {144, 148, 86}};

/* 3.10.13 */
static const uint8_t ranges[] = {18, 1,	  4,  1, 4, 1, 2, 1,   8,  255, 12, 2,	 8, 1, 2,  255,
				 2,  128, 12, 3, 4, 2, 8, 1,   10, 1,	4,  254, 6, 3, 10, 1,
				 10, 255, 2,  2, 2, 1, 4, 255, 16, 254, 2,  2,	 2, 1, 4,  255};
static const struct dw_python_lines ranges_lines[] = {
	{0, 18, 72},	{18, 22, 73},	{22, 26, 74},	{26, 28, 75},	{28, 36, 74},
	{36, 48, 76},	{48, 56, 77},	{56, 58, 76},	{58, 60, 0},	{60, 72, 79},
	{72, 76, 81},	{76, 84, 82},	{84, 94, 83},	{94, 98, 81},	{98, 104, 84},
	{104, 114, 85}, {114, 124, 84}, {124, 126, 86}, {126, 128, 87}, {128, 132, 86},
	{132, 148, 84}, {148, 150, 86}, {150, 152, 87}, {152, 156, 86}};

/* 3.11.7 */
static const uint8_t entries[] = {
	128, 0,	  216, 8,   29,	 208, 8,   29,	149, 69,  152, 33,  145, 72,  148, 72,	208, 8,
	29,  209, 8,   29,  212, 8,   29,  128, 65,  240, 2,   6,   5,	 14,  221, 12,	13,  136,
	97,  216, 14,  15,  241, 3,   1,   13,	17,  244, 0,   1,   13,	 17,  136, 1,	136, 1,
	248, 229, 11,  21,  240, 0,   1,   5,	14,  240, 0,   1,   5,	 14,  240, 0,	1,   5,
	14,  216, 12,  13,  136, 1,   136, 1,	136, 1,	  240, 3,   1,	 5,   14,  248, 248, 248,
	240, 6,	  0,   13,  14,	 136, 1,   136, 1,   248, 136, 65,  136, 1,   136, 5,	136, 5,
	136, 5,	  136, 5,   224, 10,  11,  240, 0,   2,	  5,   27,  216, 8,   9,   136, 81,  137,
	6,   136, 1,   216, 11,	 12,  136, 113, 138, 53,  136, 53,  144, 40,  240, 5,	0,   11,
	12,  240, 0,   2,   5,	 27,  240, 6,	0,   10,  11,  240, 0,	 1,   5,   13,	136, 97,
	221, 8,	  9,   136, 33,	 137, 4,   140, 4,   136, 4,   240, 3,	 1,   5,   13,	240, 0,
	1,   5,	  13,  240, 0,	 1,   5,   13,	241, 0,	  1,   5,   13,	 244, 0,   1,	5,   13,
	240, 0,	  1,   5,   13,	 240, 0,   1,	5,   13,  240, 0,   1,	 5,   13,  240, 0,   1,
	5,   13,  240, 0,   1,	 5,   13,  240, 0,   1,	  5,   13,  248, 248, 248, 240, 0,   1,
	5,   13,  240, 0,   1,	 5,   13,  240, 0,   1,	  5,   13,  240, 0,   1,   5,	13,  224,
	12,  13,  216, 12,  13,	 241, 3,   1,	13,  14,  240, 0,   1,	 5,   15};
static const struct dw_python_lines entries_lines[] = {
	{0, 2, 71},	{2, 52, 72},	{52, 54, 73},	{54, 68, 74},	{68, 70, 75},
	{70, 88, 74},	{88, 90, 0},	{90, 108, 76},	{108, 116, 77}, {116, 118, 76},
	{118, 124, 0},	{124, 130, 79}, {130, 132, 0},	{132, 144, 79}, {144, 148, 81},
	{148, 158, 82}, {158, 172, 83}, {172, 176, 81}, {176, 182, 84}, {182, 212, 85},
	{212, 244, 84}, {244, 250, 0},	{250, 258, 84}, {258, 260, 86}, {260, 262, 87},
	{262, 268, 86}};

enum { FIRST_LINE = 71, PAIRS_BYTES = 148, RANGES_BYTES = 156, ENTRIES_BYTES = 268 };

/* Whether the table of @version says @want, pieces of one line taken together. */
static bool says(uint32_t version, const uint8_t *table, size_t table_n, uint32_t code_bytes,
		 const struct dw_python_lines *want, size_t want_n)
{
	struct dw_python_lines piece, all = {0, 0, UINT32_MAX};
	struct dw_python_line_table t;
	size_t n = 0;
	bool more = true;

	dw_python_line_table_init(&t, version, table, table_n, code_bytes, FIRST_LINE);
	while (more) {
		more = dw_python_line_table_next(&t, &piece);
		if (more && piece.line == all.line) {
			all.end = piece.end;
			continue;
		}
		if (all.end && (n == want_n || memcmp(&all, &want[n++], sizeof all)))
			return false;
		all = piece;
	}
	return n == want_n;
}

TEST(lines_of_three_kinds)
{
	CHECK(says(0x309, pairs, sizeof pairs, PAIRS_BYTES, pairs_lines,
		   sizeof pairs_lines / sizeof *pairs_lines));
	CHECK(says(0x30a, ranges, sizeof ranges, RANGES_BYTES, ranges_lines,
		   sizeof ranges_lines / sizeof *ranges_lines));
	CHECK(says(0x30b, entries, sizeof entries, ENTRIES_BYTES, entries_lines,
		   sizeof entries_lines / sizeof *entries_lines));
	/* Read as another kind, it says something else. */
	CHECK(!says(0x30a, pairs, sizeof pairs, PAIRS_BYTES, pairs_lines,
		    sizeof pairs_lines / sizeof *pairs_lines));
}

TEST(no_table_leads_out_of_the_code)
{
	static const uint8_t steps[] = {255, 127, 255, 127, 0x80 | 13 << 3 | 7, 0x7f, 0x7f, 0x7f};
	struct dw_python_lines piece;
	struct dw_python_line_table t;

	for (uint32_t version = 0x309; version <= 0x30b; version++) {
		uint32_t end = 0;

		dw_python_line_table_init(&t, version, steps, sizeof steps, 300, UINT32_MAX);
		while (dw_python_line_table_next(&t, &piece)) {
			CHECK(piece.start == end && piece.start < piece.end && piece.end <= 300);
			CHECK(piece.line <= INT32_MAX);
			end = piece.end;
		}
	}
}

static bool is_text(const void *bytes, size_t n, size_t width, const char *want)
{
	dw_auto(dw_buf) got = DW_BUF_INIT;

	dw_python_text_put(&got, bytes, n, width);
	return !strcmp(dw_buf_str(&got), want);
}

TEST(texts)
{
	static const uint16_t two[] = {'p', 0x3c0, 0x20ac, 0xd800, 7};
	static const uint32_t four[] = {0x1f40d, 'x', 0x110000};

	CHECK(is_text("run", 3, 1, "run"));
	CHECK(is_text("caf\xe9", 4, 1, "caf\xc3\xa9"));
	CHECK(is_text(two, sizeof two, 2, "p\xcf\x80\xe2\x82\xac??"));
	CHECK(is_text(four, sizeof four, 4, "\xf0\x9f\x90\x8dx?"));
	CHECK(is_text(four, 3, 4, ""));
	CHECK(is_text("run", 3, 0, ""));
}

/* A process with an interpreter at 0x1000 to 0x2000, and what all of them share. */
struct made {
	struct dw_profile p;
	struct dw_jit jit;
	struct dw_interpreters all;
	struct dw_interpreter_process *process;
};

static void make(struct made *m)
{
	static const struct dw_interpreter_runtime runtime = {
		.language = DWELL_PYTHON, .version = 0x30b, .eval = 0x1000};

	memset(m, 0, sizeof *m);
	m->p = (struct dw_profile)DW_PROFILE_INIT;
	dw_jit_init(&m->jit, &m->p);
	m->all.jit = &m->jit;
	m->process = dw_interpreter_begin(&runtime);
	if (!m->process)
		abort();
	m->process->eval.n = 1;
	m->process->eval.parts[0].start = 0x1000;
	m->process->eval.parts[0].end = 0x2000;
}

static void unmake(struct made *m)
{
	dw_interpreter_end(m->process);
	dw_interpreter_release(&m->all);
	dw_jit_release(&m->jit);
	dw_profile_release(&m->p);
}

/* Tell of a function @name at @code with @seal, in a record that is @less bytes short. */
static int tell(struct made *m, uint64_t code, uint32_t seal, const char *name, size_t less)
{
	uint8_t record[512];
	struct dw_interpreter_code head = {.code = code,
					   .seal = seal,
					   .first_line = FIRST_LINE,
					   .code_bytes = ENTRIES_BYTES,
					   .lines_bytes = sizeof entries,
					   .name = {(uint16_t)strlen(name), 1},
					   .file = {4, 1}};
	size_t n = sizeof head;

	memcpy(record, &head, n);
	memcpy(record + n, name, head.name.bytes);
	n += head.name.bytes;
	memcpy(record + n, "/x.y", 4);
	n += 4;
	memcpy(record + n, entries, sizeof entries);
	return dw_interpreter_tell(&m->all, m->process, record, n + sizeof entries - less);
}

TEST(functions)
{
	struct dw_interpreter_frame frame = {
		.code = 0x5000 | DWELL_INTERPRETER_OUTERMOST, .position = 60, .seal = 7};
	struct dw_jit_symbol symbol = {0};
	struct dw_frame row, again;
	struct made m;

	make(&m);
	CHECK_INT(tell(&m, 0x5000, 7, "run", 1), DWELL_ERR_FORMAT);
	CHECK(!dw_interpreter_frame(m.process, &frame, &row));
	CHECK_INT(tell(&m, 0x5000, 7, "run", 0), 0);
	CHECK(dw_interpreter_frame(m.process, &frame, &row));
	CHECK_INT(dw_jit_finish(&m.jit), 0);
	CHECK(dw_jit_symbolize(&m.jit, row.module, row.svma, &symbol));
	CHECK(!strcmp(symbol.name, "run") && !strcmp(symbol.file, "/x.y"));
	CHECK_INT(symbol.line, FIRST_LINE);
	CHECK_INT(symbol.at_line, 74);
	/* The same function elsewhere is the same place; another at this address is another. */
	CHECK_INT(tell(&m, 0x6000, 9, "run", 0), 0);
	CHECK(dw_interpreter_frame(m.process, &(struct dw_interpreter_frame){0x6000, 60, 9},
				   &again));
	CHECK(again.svma == row.svma && again.module == row.module);
	CHECK_INT(tell(&m, 0x5000, 8, "stop", 0), 0);
	CHECK(!dw_interpreter_frame(m.process, &frame, &again));
	frame.seal = 8;
	CHECK(dw_interpreter_frame(m.process, &frame, &again));
	CHECK(again.svma != row.svma);
	unmake(&m);
}

enum { OUTER = DWELL_INTERPRETER_OUTERMOST, EVAL = 0x1234, NATIVE = 0x9000 };

/* The names of the stack that @pcs, outermost first, and @frames make, as letters: upper-case
 * native ones (E evaluates), lower-case ones of Python, ! for the mark of a cut. */
static const char *merged(struct made *m, const char *pcs,
			  const struct dw_interpreter_frame *frames, size_t n, uint32_t state)
{
	const struct dw_interpreter_merge merge = {&m->p, m->process, &m->all.counts[DWELL_PYTHON]};
	const struct dw_interpreter_sample sample = {frames, n, state, true};
	struct dw_walk w = {.has_frames = true};
	static char text[32];
	uint32_t stack, at = sizeof text - 1;

	for (const char *c = pcs; *c; c++) {
		struct dw_walk_frame f = {.pc = *c == 'E' ? EVAL : NATIVE + (uint64_t)*c};
		struct dw_frame row = {.svma = (uint64_t)*c};

		if (*c == '!') {
			f.pc = DWELL_WALK_CUT;
			row = (struct dw_frame){.kind = DWELL_FRAME_CUT};
		}
		if (dw_frames_add(&m->p.frames, row, &f.frame) ||
		    (*c == '!' && dw_stacks_add(&m->p.stacks, 0, f.frame, &f.stack)) ||
		    dw_vec_push(&w.frames, f))
			abort();
	}
	if (dw_interpreter_stack_merge(&merge, &w, &sample, &stack))
		abort();
	dw_vec_release(&w.frames);
	for (; stack; stack = dw_stacks_get(&m->p.stacks, stack)->parent) {
		const struct dw_frame *f =
			dw_frames_get(&m->p.frames, dw_stacks_get(&m->p.stacks, stack)->frame);

		text[--at] = f->kind == DWELL_FRAME_CUT ? '!'
			     : f->module		? (char)('a' + (f->svma >> 32) - 1)
							: (char)f->svma;
	}
	return text + at;
}

#define MERGED(pcs, frames, state, want) \
	CHECK(!strcmp(merged(&m, pcs, frames, sizeof(frames) / sizeof *(frames), state), want))

TEST(merging)
{
	/* Innermost first: c, called by b; both called from C; a, called from C. */
	static const struct dw_interpreter_frame frames[] = {
		{0x7000, 0, 3}, {0x6000 | OUTER, 0, 2}, {0x5000 | OUTER, 0, 1}};
	static const struct dw_interpreter_frame bases[] = {
		{OUTER, 0, 0}, {0x7000, 0, 3}, {OUTER, 0, 0}, {0x5000, 0, 1}, {OUTER, 0, 0}};
	static const struct dw_interpreter_frame unknown[] = {{0x7000, 0, 4},
							      {0x5000 | OUTER, 0, 1}};
	struct made m;

	make(&m);
	CHECK_INT(tell(&m, 0x5000, 1, "a", 0) | tell(&m, 0x6000, 2, "b", 0) |
			  tell(&m, 0x7000, 3, "c", 0),
		  0);
	MERGED("SREXYEZ", frames, DWELL_INTERPRETER_WHOLE, "SRaXYbcZ");
	MERGED("SEXE", frames, DWELL_INTERPRETER_WHOLE, "SaXbc");
	/* The last call has no frame yet. */
	MERGED("SEXEYE", frames, DWELL_INTERPRETER_WHOLE, "SaXbcYE");
	MERGED("SEXEYE", bases, DWELL_INTERPRETER_WHOLE, "SaXcY");
	CHECK_INT(m.all.counts[DWELL_PYTHON].unmatched, 0);
	CHECK_INT(m.all.counts[DWELL_PYTHON].samples, 4);
	/* What does not go together is left out, and counted. */
	MERGED("SEX", frames, DWELL_INTERPRETER_WHOLE, "SEX");
	MERGED("SEEEEX", frames, DWELL_INTERPRETER_WHOLE, "SEEEEX");
	CHECK_INT(m.all.counts[DWELL_PYTHON].unmatched, 2);
	CHECK_INT(m.all.counts[DWELL_PYTHON].samples, 4);
	/* Of a cut stack Python knows the callers. */
	MERGED("!YEZ", frames, DWELL_INTERPRETER_WHOLE, "!aYbcZ");
	MERGED("SEXEZ", frames, DWELL_INTERPRETER_DEEP, "!aXbcZ");
	MERGED("SEREXEZ", frames, DWELL_INTERPRETER_DEEP, "!aXbcZ");
	CHECK_INT(m.all.counts[DWELL_PYTHON].unmatched, 2);
	CHECK_INT(m.all.counts[DWELL_PYTHON].unnamed, 0);
	MERGED("SE", unknown, DWELL_INTERPRETER_WHOLE, "Sa");
	CHECK_INT(m.all.counts[DWELL_PYTHON].unnamed, 1);
	unmake(&m);
}

/* Of interpreters that make a frame before they evaluate it, and have stacks beside the thread's.
 */
TEST(merging_of_others)
{
	static const struct dw_interpreter_frame frames[] = {
		{0x7000, 0, 3}, {0x6000 | OUTER, 0, 2}, {0x5000 | OUTER, 0, 1}};
	static const struct dw_interpreter_frame fiber[] = {{0x7000 | OUTER, 0, 3},
							    {DWELL_INTERPRETER_SWITCH, 0, 0},
							    {0x6000, 0, 2},
							    {0x5000 | OUTER, 0, 1}};
	struct made m;

	make(&m);
	CHECK_INT(tell(&m, 0x5000, 1, "a", 0) | tell(&m, 0x6000, 2, "b", 0) |
			  tell(&m, 0x7000, 3, "c", 0),
		  0);
	MERGED("SEXY", frames, DWELL_INTERPRETER_WHOLE, "SEXY");
	CHECK_INT(m.all.counts[DWELL_PYTHON].unmatched, 1);
	m.process->told.language = DWELL_RUBY;
	MERGED("SEXY", frames, DWELL_INTERPRETER_WHOLE, "SaXYbc");
	MERGED("SEXE", frames, DWELL_INTERPRETER_WHOLE, "SaXbc");
	MERGED("FEX", fiber, DWELL_INTERPRETER_WHOLE, "abFcX");
	MERGED("FX", fiber, DWELL_INTERPRETER_WHOLE, "abFXc");
	MERGED("!FEX", fiber, DWELL_INTERPRETER_WHOLE, "abFcX"); /* of a fiber nothing is cut */
	CHECK_INT(m.all.counts[DWELL_PYTHON].unmatched, 1);
	MERGED("SX", frames, DWELL_INTERPRETER_WHOLE, "SX");
	CHECK_INT(m.all.counts[DWELL_PYTHON].unmatched, 2);
	unmake(&m);
}

/* What is not of Python has its lines by their numbers, and a class before its name. */
TEST(functions_of_others)
{
	static const uint8_t texts[] = "K\0/p:3run/x.y";
	struct dw_interpreter_code head = {.code = 0x5000,
					   .seal = 7,
					   .first_line = 10,
					   .code_bytes = 4,
					   .owner = {6, 1},
					   .name = {3, 1},
					   .file = {4, 1}};
	uint8_t record[sizeof head + sizeof texts - 1];
	struct dw_jit_symbol symbol = {0};
	struct dw_frame row;
	struct made m;

	make(&m);
	m.process->told.language = DWELL_PHP;
	memcpy(record, &head, sizeof head);
	memcpy(record + sizeof head, texts, sizeof texts - 1);
	CHECK_INT(dw_interpreter_tell(&m.all, m.process, record, sizeof record), 0);
	CHECK(dw_interpreter_frame(m.process, &(struct dw_interpreter_frame){0x5000, 2, 7}, &row));
	CHECK_INT(dw_jit_finish(&m.jit), 0);
	CHECK(dw_jit_symbolize(&m.jit, row.module, row.svma, &symbol));
	CHECK(!strcmp(symbol.name, "K::run") && !strcmp(symbol.file, "/x.y"));
	CHECK_INT(symbol.line, 10);
	CHECK_INT(symbol.at_line, 12);
	head.code_bytes = DWELL_INTERPRETER_LINES_MAX + 1;
	memcpy(record, &head, sizeof head);
	CHECK_INT(dw_interpreter_tell(&m.all, m.process, record, sizeof record), DWELL_ERR_FORMAT);
	unmake(&m);
}

TEST_MAIN()
