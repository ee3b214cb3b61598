/*
 * Calls each function of shapes-x86-64.S directly and through a pointer, again and again, and
 * compares with what it must return. One case is one function, so that a failure has a name.
 */
#include "hostile.h"

typedef long shape(long, long);

extern shape table_in_text, byte_table, one_byte_blocks, computed_target, absolute_table,
	shared_first, shared_second, shared_if, falls_through, fallen_into, two_entries,
	second_entry, enters_second, calls_second, calls_loop_at_entry, calls_short_loop,
	calls_tiny, tiny_4, tiny_5, data_after_call, returns_elsewhere, pops_return, skips_a_frame,
	call_next, uses_thunk, calls_own_middle, push_and_return, through_retpoline, callee_removes,
	interrupt_return, overlapping, jumped_over_prefix, jumps_on_count, transaction,
	repeated_return, bounded_jump, long_instructions, calls_through_stack, jumps_through_stack,
	calls_through_memory, jumps_through_memory, pops_through_stack_pointer, constants_in_text,
	exchanges, conditional_tail, system_call, bare, elsewhere, very_large;
extern long bare_calls_back(long (*function)(long), long argument);

struct shape_case {
	const char *name;
	shape *function;
	long first, second, want;
};

static const struct shape_case shapes[] = {
	{"table-in-text", table_in_text, 0, 5, 10},
	{"table-in-text", table_in_text, 1, 5, 20},
	{"table-in-text", table_in_text, 2, 5, 10},
	{"table-in-text", table_in_text, 3, 5, 40},
	{"byte-table", byte_table, 0, 0, 4},
	{"byte-table", byte_table, 1, 0, 3},
	{"byte-table", byte_table, 2, 0, 2},
	{"byte-table", byte_table, 3, 0, 1},
	{"one-byte-blocks", one_byte_blocks, 0, 1, 9},
	{"one-byte-blocks", one_byte_blocks, 1, 1, 17},
	{"one-byte-blocks", one_byte_blocks, 2, 1, 25},
	{"one-byte-blocks", one_byte_blocks, 3, 1, 33},
	{"one-byte-blocks", one_byte_blocks, 4, 1, 41},
	{"one-byte-blocks", one_byte_blocks, 5, 1, 1},
	{"computed-target", computed_target, 0, 7, 39},
	{"computed-target", computed_target, 31, 7, 8},
	{"computed-target", computed_target, 32, 7, 7},
	{"absolute-table", absolute_table, 0, 1, 8},
	{"absolute-table", absolute_table, 1, 1, 10},
	{"shared-code", shared_first, 1, 2, 103},
	{"shared-code", shared_second, 1, 2, 203},
	{"shared-code", shared_if, 0, 2, -1},
	{"shared-code", shared_if, 5, 2, 7},
	{"falls-through", falls_through, 4, 0, 10},
	{"falls-through", fallen_into, 4, 0, 8},
	{"two-entries", two_entries, 1, 2, 19},
	{"two-entries", second_entry, 1, 2, 3},
	{"two-entries", enters_second, 1, 2, 3},
	{"two-entries", calls_second, 1, 2, 3},
	{"loop-at-entry", calls_loop_at_entry, 10, 3, 30},
	{"loop-at-entry", calls_short_loop, 10, 0, 6},
	{"tiny", calls_tiny, 5, 0, 15},
	{"tiny", tiny_4, 5, 0, 5},
	{"tiny", tiny_5, 6, 0, 6},
	{"data-after-call", data_after_call, 3, 0, 23},
	{"returns-elsewhere", returns_elsewhere, 2, 0, 101},
	{"returns-elsewhere", returns_elsewhere, 3, 0, 1},
	{"pops-return", pops_return, 3, 4, 12},
	{"skips-a-frame", skips_a_frame, 3, 0, 36},
	{"call-next", call_next, 8, 0, 8},
	{"pc-thunk", uses_thunk, 8, 0, 8},
	{"own-middle", calls_own_middle, 8, 3, 14},
	{"push-and-return", push_and_return, 8, 3, 11},
	{"retpoline", through_retpoline, 8, 3, 8},
	{"callee-removes", callee_removes, 8, 3, 11},
	{"interrupt-return", interrupt_return, 8, 3, 11},
	{"overlapping", overlapping, 8, 0, 9},
	{"prefix", jumped_over_prefix, 8, 0, 9},
	{"prefix", jumped_over_prefix, 8, 1, 9},
	{"count-jumps", jumps_on_count, 0, 3, 0},
	{"count-jumps", jumps_on_count, 4, 3, 20},
	{"transaction", transaction, 4, 0, 7},
	{"repeated-return", repeated_return, 4, 3, 7},
	{"bounded-jump", bounded_jump, 4, 3, 7},
	{"long-instructions", long_instructions, 4, 0, 13},
	{"through-stack", calls_through_stack, 4, 3, 7},
	{"through-stack", jumps_through_stack, 4, 3, 4},
	{"through-memory", calls_through_memory, 4, 3, 4},
	{"through-memory", jumps_through_memory, 4, 3, 4},
	{"pop-stack-pointer", pops_through_stack_pointer, 4, 3, 8},
	{"constants-in-text", constants_in_text, 10, 0, 12},
	{"exchanges", exchanges, 4, 3, 7},
	{"conditional-tail", conditional_tail, 4, 1, 4},
	{"conditional-tail", conditional_tail, 5, 1, -5},
	{"conditional-tail", conditional_tail, 11, 1, 112},
	{"system-call", system_call, 11, 0, 11},
	{"bare", bare, 11, 0, 22},
	{"elsewhere", elsewhere, 11, 4, 7},
	{"very-large", very_large, 1, 0, 20001},
	{"very-large", very_large, 1, 1, 1},
};

NOINLINE static long add_one(long number)
{
	return number + 1;
}

static void run_calls_back(void)
{
	long sum = 0;

	for (int i = 0; i < 1000; i++)
		sum += bare_calls_back(add_one, i);
	CHECK(sum == 500500);
}

static void run_shape(const struct shape_case *one)
{
	for (int i = 0; i < 200; i++) {
		long got = one->function(one->first, one->second);

		if (got != one->want) {
			printf("%s(%ld, %ld): got %ld, want %ld\n", one->name, one->first,
			       one->second, got, one->want);
			hostile_failures++;
			return;
		}
	}
	printf("%s(%ld, %ld) = %ld\n", one->name, one->first, one->second, one->want);
}

int main(int argc, char **argv)
{
	static const struct hostile_case others[] = {{"calls-back", run_calls_back}, {0}};
	const size_t count = sizeof(shapes) / sizeof(shapes[0]);
	bool is_known = false;

	for (size_t i = 0; i < count; i++) {
		bool is_first = i == 0 || strcmp(shapes[i].name, shapes[i - 1].name) != 0;

		if (argc < 2 && is_first)
			puts(shapes[i].name);
		if (argc < 2 || strcmp(argv[1], shapes[i].name) != 0)
			continue;
		run_shape(&shapes[i]);
		is_known = true;
	}
	return is_known ? hostile_failures != 0 : hostile_main(argc, argv, others);
}
