/*
 * Readers of interpreters' memory (src/interpreter/): frames of made memory, and of memory that was
 * changed at random, which must end in bounds.
 */
#include "check.h"
#include "interpreter/frames.h"
#include "interpreter/php/frames.h"
#include "interpreter/php/layout.h"
#include "interpreter/ruby/frames.h"
#include "interpreter/ruby/layout.h"

#include <string.h>

enum { BASE = 0x10000, BYTES = 4 * DWELL_INTERPRETER_PAGE, MET = 16, ROUNDS = 20000 };

/* Made memory, and what was met in it. */
static struct {
	uint8_t bytes[BYTES];
	struct dw_interpreter_copies copies;
	struct dw_interpreter_frame rows[DWELL_INTERPRETER_FRAMES_MAX];
	char names[MET][32];
	uint32_t met;
} made;

static bool copy_page(int32_t pid, uint64_t at, uint8_t ret[DWELL_INTERPRETER_PAGE])
{
	(void)pid;
	if (at < BASE || at >= BASE + BYTES)
		return false;
	memcpy(ret, made.bytes + (at - BASE), DWELL_INTERPRETER_PAGE);
	return true;
}

static void put(uint64_t at, uint64_t word)
{
	memcpy(made.bytes + at, &word, sizeof word);
}

static void put_half(uint64_t at, uint32_t half)
{
	memcpy(made.bytes + at, &half, sizeof half);
}

/* Note the owner and name of a function, and that all parts are in bounds. */
static void met(struct dw_interpreter_frames *f, const struct dw_interpreter_frame *frame,
		uint64_t object, uint64_t seal)
{
	struct dw_interpreter_part parts[DWELL_INTERPRETER_PARTS];
	struct dw_interpreter_code head;
	char *name = made.names[made.met % MET];
	size_t n = 0;

	if (frame->seal != (uint32_t)(seal >> 32))
		abort();
	dw_interpreter_describe(f, frame, object, &head, parts);
	for (int i = 0; i < DWELL_INTERPRETER_LINES; i++)
		if (parts[i].bytes > DWELL_INTERPRETER_TEXT_MAX)
			abort();
	if (parts[DWELL_INTERPRETER_LINES].bytes > DWELL_INTERPRETER_LINES_MAX)
		abort();
	for (int i = 0; i <= DWELL_INTERPRETER_NAME; i++) {
		uint64_t at = parts[i].at - BASE;

		if (at < BYTES - 32 && parts[i].bytes + n + 2 < sizeof made.names[0]) {
			memcpy(name + n, made.bytes + at, parts[i].bytes);
			n += parts[i].bytes;
			if (!i && n)
				name[n++] = '.';
		}
	}
	name[n] = 0;
	made.met++;
}

static struct dw_interpreter_frames begin(const struct dw_interpreter_reader *reader,
					  const void *layout)
{
	made.met = 0;
	return (struct dw_interpreter_frames){.reader = reader,
					      .layout = layout,
					      .memory = {.copy = copy_page, .copies = &made.copies},
					      .rows = made.rows,
					      .met = met};
}

/* PHP's memory: where what stands in it. */
enum {
	GLOBALS = 0x10,
	FRAMES = 0x400,
	FUNCTIONS = 0x800,
	CODE = 0x1000,
	CLASS = 0x2800,
	TEXTS = 0x3000,
	TOP = 1 << 17,
	PASS = 0x3f00, /* what stands for no constructor */
};

static uint64_t put_text(int i, const char *text)
{
	uint64_t at = TEXTS + (uint64_t)i * 64;

	put(at + 16, strlen(text));
	memcpy(made.bytes + at + 24, text, strlen(text));
	return BASE + at;
}

/* Frame @i of function @function, at line 10 * @function + @line, called by frame @previous, 0 =
 * none. */
static uint64_t put_frame(int i, int function, int line, uint32_t info, uint64_t previous)
{
	uint64_t at = FRAMES + (uint64_t)i * 64;

	put(at, BASE + CODE + (uint64_t)function * 512 + (uint64_t)line * 32);
	put(at + 24, function < 0 ? 0 : BASE + FUNCTIONS + (uint64_t)function * 256);
	put_half(at + 40, info);
	put(at + 48, previous);
	return BASE + at;
}

/* Function @i of @type, with ten lines from 10 * @i on, one instruction each. */
static void put_function(int i, uint8_t type, const char *name, uint64_t scope)
{
	const struct dw_php_layout *l = dw_php_layout(20220829);
	uint64_t at = FUNCTIONS + (uint64_t)i * 256, code = CODE + (uint64_t)i * 512;

	put(at, type);
	put(at + 8, name ? put_text(i, name) : 0);
	put(at + 16, scope);
	if (type == 1)
		return;
	put(at + l->function_opcodes, BASE + code);
	put_half(at + l->function_last, 10);
	put(at + l->function_file, put_text(20, "/x.php"));
	put_half(at + l->function_line, (uint32_t)i * 10);
	put_half(at + l->function_line + 4, (uint32_t)i * 10 + 9);
	for (uint32_t k = 0; k < 10; k++)
		put_half(code + k * 32 + 24, (uint32_t)i * 10 + k);
}

/* main, which starts a fiber, in which usort() calls a method back: all kinds of frames. */
static void make_php(void)
{
	uint64_t at;

	memset(made.bytes, 0, sizeof made.bytes);
	put(CLASS + 8, put_text(21, "Order"));
	put_function(0, 2, NULL, 0); /* top-level code */
	put_function(1, 1, NULL, 0); /* where fibers begin */
	put_function(2, 2, "work", 0);
	put_function(3, 1, "usort", 0);
	put_function(4, 2, "compare", BASE + CLASS);
	at = put_frame(0, 0, 3, TOP, 0);
	at = put_frame(1, 1, 0, 0, at);
	at = put_frame(2, 2, 5, TOP, at);
	at = put_frame(3, -1, 0, 0, at); /* a generator's mark */
	at = put_frame(4, 3, 0, TOP, at);
	at = put_frame(5, 4, 2, TOP, at);
	put(GLOBALS + 488, at);
}

static const struct {
	uint64_t flags;
	uint32_t position;
	const char *name;
} php_wants[] = {
	{DWELL_INTERPRETER_OUTERMOST, 2, "Order.compare"},
	{0, DWELL_INTERPRETER_POSITION_NONE, "usort"},
	{DWELL_INTERPRETER_OUTERMOST, 5, "work"},
	{DWELL_INTERPRETER_SWITCH, DWELL_INTERPRETER_POSITION_NONE, NULL},
	{DWELL_INTERPRETER_OUTERMOST, 3, ""},
};

TEST(frames_of_php)
{
	struct dw_interpreter_frames f = begin(&dw_php_reader, dw_php_layout(20220829));
	uint64_t registers[17] = {0};
	uint32_t named = 0;

	make_php();
	f.type = BASE + PASS;
	f.reader->read(&f, BASE + GLOBALS);
	CHECK_INT(f.state, DWELL_INTERPRETER_WHOLE);
	CHECK_INT(f.n, sizeof php_wants / sizeof *php_wants);
	for (uint32_t i = 0; i < f.n; i++) {
		CHECK_INT(f.rows[i].code & DWELL_INTERPRETER_FLAGS, php_wants[i].flags);
		CHECK_INT(f.rows[i].position, php_wants[i].position);
		if (php_wants[i].name)
			CHECK(!strcmp(made.names[named++], php_wants[i].name));
	}
	CHECK_INT(made.met, named);
	/* Registers have the instruction, where it is one of the function's. */
	registers[14] = BASE + FRAMES + 5 * 64;
	registers[15] = BASE + CODE + 4 * 512 + 7 * 32;
	f.registers = registers;
	f.reader->read(&f, BASE + GLOBALS);
	CHECK_INT(f.rows[0].position, 7);
	registers[15] = BASE + CODE;
	f.reader->read(&f, BASE + GLOBALS);
	CHECK_INT(f.rows[0].position, 2);
}

/* A class may have one method of a trait under two names, with one code. */
TEST(names_of_php_for_one_code)
{
	const struct dw_php_layout *l = dw_php_layout(20220829);
	struct dw_interpreter_frames f = begin(&dw_php_reader, l);

	make_php();
	put_function(2, 2, "compare_all", BASE + CLASS);
	put(FUNCTIONS + 2 * 256 + l->function_opcodes, BASE + CODE + 4 * 512);
	f.reader->read(&f, BASE + GLOBALS);
	CHECK_INT(f.n, sizeof php_wants / sizeof *php_wants);
	CHECK((f.rows[0].code ^ f.rows[2].code) & ~(uint64_t)DWELL_INTERPRETER_FLAGS);
}

TEST(chains_of_php_that_are_none)
{
	struct dw_interpreter_frames f = begin(&dw_php_reader, dw_php_layout(20220829));

	make_php();
	put(FRAMES + 48, BASE + FRAMES + 5 * 64); /* round and round */
	f.reader->read(&f, BASE + GLOBALS);
	CHECK_INT(f.state, DWELL_INTERPRETER_DEEP);
	CHECK_INT(f.n, DWELL_INTERPRETER_FRAMES_MAX);
	put(FRAMES + 48, 0xdead0000); /* nowhere */
	f.reader->read(&f, BASE + GLOBALS);
	CHECK_INT(f.state, DWELL_INTERPRETER_TORN);
	CHECK_INT(f.n, 0);
	make_php();
	made.bytes[FUNCTIONS + 2 * 256] = 3; /* no type of a function */
	f.reader->read(&f, BASE + GLOBALS);
	CHECK_INT(f.state, DWELL_INTERPRETER_TORN);
	CHECK(!dw_php_layout(20250925));
}

/* Change words of what @make has made, at random, and read it; how many are whole. */
static uint32_t read_changed(void (*make)(void), struct dw_interpreter_frames *f, uint64_t place)
{
	uint64_t random = 1;
	uint32_t whole = 0;

	for (int i = 0; i < ROUNDS; i++) {
		make();
		for (int k = 0; k < 3; k++) {
			random = random * 6364136223846793005u + 1442695040888963407u;
			if (random >> 63)
				put((random >> 33) % (BYTES / 8) * 8,
				    BASE + (random >> 20) % BYTES);
			else
				made.bytes[(random >> 33) % BYTES] = (uint8_t)(random >> 50);
		}
		f->reader->read(f, place);
		if (f->n > DWELL_INTERPRETER_FRAMES_MAX)
			abort();
		whole += f->state == DWELL_INTERPRETER_WHOLE;
	}
	return whole;
}

TEST(changed_memory_of_php)
{
	struct dw_interpreter_frames f = begin(&dw_php_reader, dw_php_layout(20220829));
	uint32_t whole = read_changed(make_php, &f, BASE + GLOBALS);

	CHECK(whole > ROUNDS / 2 && whole < ROUNDS);
}

/* Ruby's memory of 3.1: where what stands in it. */
enum {
	CONTEXT = 0x20,
	NAMES = 0x100, /* where the table of names is kept */
	STACK = 0x400, /* of a fiber: environments, then frames at its end */
	STACK_WORDS = 256,
	SEQUENCES = 0x1000, /* objects, then bodies, their instructions and lines */
	METHODS = 0x2400,
	STRINGS = 0x2800,
	ARRAYS = 0x3800,
	ROWS = 60, /* of a table of lines: every instruction begins one */
};

/* A short string @i. */
static uint64_t put_string(int i, const char *text)
{
	uint64_t at = STRINGS + (uint64_t)i * 40;

	put(at, 5 | strlen(text) << 14);
	memcpy(made.bytes + at + 16, text, strlen(text));
	return BASE + at;
}

/* Instruction sequence @i called @label, with lines from 100 * (i + 1) on: ROWS instructions, one a
 * line. */
static uint64_t put_sequence(int i, const char *label)
{
	uint64_t at = SEQUENCES + (uint64_t)i * 0x800, body = at + 64, rows = at + 256,
		 set = at + 0x3e0;
	uint32_t first = 100 * ((uint32_t)i + 1);

	put(at, 0x1a | 7 << 12);
	put(at + 16, BASE + body);
	put_half(body + 4, ROWS);
	put(body + 8, BASE + at + 0x500); /* instructions: nobody reads them */
	put(body + 64, put_string(20, "/x.rb"));
	put(body + 80, put_string(i, label));
	put(body + 88, (uint64_t)first << 1 | 1);
	put_half(body + 108, first + ROWS);
	put(body + 120, BASE + rows);
	put_half(body + 136, ROWS);
	put(body + 144, BASE + set);
	for (uint32_t k = 0; k < ROWS; k++)
		put_half(rows + k * 12, first + k);
	/* Ranks of the first 54, nine a word, then a block: rank, ranks of its words, its words. */
	for (uint64_t k = 0; k < 54; k++) {
		uint64_t word;

		memcpy(&word, made.bytes + set + k / 9 * 8, 8);
		put(set + k / 9 * 8, word | (k + 1) << k % 9 * 7);
	}
	put_half(set + 48, 54);
	put(set + 64, (1 << (ROWS - 54)) - 1);
	return BASE + at;
}

/* The next outer frame of Ruby: @sequence at instruction @at (0: none), its environment with @flags
 * and @method. */
static void put_control(int i, uint64_t sequence, uint64_t at, uint64_t flags, uint64_t method)
{
	uint64_t environment = STACK + 16 + (uint64_t)i * 24;
	uint64_t frame = STACK + STACK_WORDS * 8 - (6 - (uint64_t)i) * 64;

	put(frame, sequence ? sequence + 0x500 + (at + 1) * 8 : 0);
	put(frame + 16, sequence);
	put(frame + 32, BASE + environment);
	put(environment - 16, method);
	put(environment, flags);
}

static void make_ruby(void)
{
	enum { FINISH = 0x20, CFUNC = 0x55550001, METHOD = 0x11110001, BLOCK = 0x22220001 };
	uint64_t main_code, block, method = BASE + METHODS;

	memset(made.bytes, 0, sizeof made.bytes);
	main_code = put_sequence(0, "<main>");
	block = put_sequence(1, "block in run");
	/* Name 1000 = piece 1, row 488: arrays that point elsewhere, and one that holds a pair. */
	put(NAMES, BASE + ARRAYS);
	put(ARRAYS, 7);
	put(ARRAYS + 16, 2);
	put(ARRAYS + 32, BASE + ARRAYS + 64);
	put(ARRAYS + 64 + 8, BASE + ARRAYS + 128);
	put(ARRAYS + 128, 7);
	put(ARRAYS + 128 + 16, 1024);
	put(ARRAYS + 128 + 32, BASE + 0x1c00);
	put(0x1c00 + 488 * 16, put_string(2, "times"));
	put(METHODS, 0x1a | 6 << 12);
	put(METHODS + 24, 1000 << 4 | 2);
	put_control(0, block, 57, BLOCK | FINISH, 0); /* of the block's words */
	put_control(1, 0, 0, 0x66660001, 0);	      /* a block in C */
	put_control(2, 0, 0, CFUNC, method);
	put_control(3, main_code, 20, METHOD, 0);
	put_control(4, main_code, 0, METHOD | FINISH, 0);
	put_control(5, main_code, 0, 0x79990001 | FINISH, 0); /* where a stack begins */
	put(CONTEXT, BASE + STACK);
	put(CONTEXT + 8, STACK_WORDS);
	put(CONTEXT + 16, BASE + STACK + STACK_WORDS * 8 - 6 * 64);
}

TEST(frames_of_ruby)
{
	static const char *const names[] = {"block in run", "times", "<main>", "<main>"};
	static const uint32_t positions[] = {57, DWELL_INTERPRETER_POSITION_NONE, 20, 0};
	static const uint64_t flags[] = {DWELL_INTERPRETER_OUTERMOST, 0, 0,
					 DWELL_INTERPRETER_OUTERMOST};
	struct dw_interpreter_frames f = begin(&dw_ruby_reader, dw_ruby_layout(0x301));

	make_ruby();
	f.type = BASE + NAMES;
	f.reader->read(&f, BASE + CONTEXT);
	CHECK_INT(f.state, DWELL_INTERPRETER_WHOLE);
	CHECK_INT(f.n, sizeof names / sizeof *names);
	CHECK_INT(made.met, f.n);
	for (uint32_t i = 0; i < f.n; i++) {
		CHECK(!strcmp(made.names[i], names[i]));
		CHECK_INT(f.rows[i].position, positions[i]);
		CHECK_INT(f.rows[i].code & DWELL_INTERPRETER_FLAGS, flags[i]);
	}
	f.type = 0; /* without names methods in C have no frames */
	f.reader->read(&f, BASE + CONTEXT);
	CHECK_INT(f.n, 3);
	CHECK(!dw_ruby_layout(0x305) && !dw_ruby_layout(0x207));
}

TEST(stacks_of_ruby_that_are_none)
{
	struct dw_interpreter_frames f = begin(&dw_ruby_reader, dw_ruby_layout(0x301));

	make_ruby();
	put(CONTEXT + 8, 1ull << 40);
	f.reader->read(&f, BASE + CONTEXT);
	CHECK_INT(f.state, DWELL_INTERPRETER_TORN);
	make_ruby();
	put(SEQUENCES, 0x1a | 6 << 12); /* no instruction sequence */
	f.reader->read(&f, BASE + CONTEXT);
	CHECK_INT(f.state, DWELL_INTERPRETER_TORN);
	CHECK_INT(f.n, 0);
	f.reader->read(&f, 0x10);
	CHECK_INT(f.state, DWELL_INTERPRETER_TORN);
}

TEST(changed_memory_of_ruby)
{
	struct dw_interpreter_frames f = begin(&dw_ruby_reader, dw_ruby_layout(0x301));
	uint32_t whole;

	f.type = BASE + NAMES;
	whole = read_changed(make_ruby, &f, BASE + CONTEXT);
	CHECK(whole > ROUNDS / 2 && whole < ROUNDS);
}

TEST_MAIN()
