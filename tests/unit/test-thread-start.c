/* Unit tests of where threads begin: what counts as the program's own, and which of several starts.
 */
#include "check.h"
#include "maker.h"

#include "record/finish.h"

/* A frame of a function of its own, @name in @module. */
static uint32_t frame_of(struct dw_profile *p, uint32_t module, const char *name)
{
	return mk_plain_frame(p, mk_function(p, module, name, NULL, 0), 0, 0);
}

static const char *start_name(struct dw_profile *p, uint32_t thread)
{
	const struct dw_function *f =
		dw_functions_get(&p->functions, dw_threads_get(&p->threads, thread)->start);

	return f ? dw_strings_get(&p->strings, f->name) : "";
}

TEST(main_is_the_start_of_a_stripped_program)
{
	struct dw_profile p = DW_PROFILE_INIT;
	uint32_t program = mk_module(&p, "prog"), libc = mk_module(&p, "libc.so.6");
	uint32_t thread = mk_process(&p, 9, "prog"), frames[5];

	frames[0] = frame_of(&p, program, "prog+0x1200");
	frames[1] = frame_of(&p, libc, "__libc_start_main_impl");
	frames[2] = frame_of(&p, libc, "libc.so.6+0x2724a");
	frames[3] = frame_of(&p, program, "main");
	frames[4] = frame_of(&p, program, "work");
	mk_samples(&p, thread, mk_stack(&p, frames, 5), 1);
	dw_find_thread_starts(&p);
	CHECK_STR(start_name(&p, thread), "main");
	dw_profile_release(&p);
}

TEST(the_kernel_is_no_start)
{
	struct dw_profile p = DW_PROFILE_INIT;
	uint32_t program = mk_module(&p, "prog"), kernel = mk_module(&p, "[kernel]");
	uint32_t thread = mk_process(&p, 9, "prog"), frames[2], fault;

	dw_modules_get(&p.modules, kernel)->kind = DWELL_MODULE_KERNEL;
	fault = frame_of(&p, kernel, "asm_exc_page_fault");
	frames[0] = frame_of(&p, program, "main");
	frames[1] = fault;
	mk_samples(&p, thread, mk_stack(&p, &fault, 1), 5);
	dw_find_thread_starts(&p);
	CHECK_STR(start_name(&p, thread), "");
	mk_samples(&p, thread, mk_stack(&p, frames, 2), 1);
	dw_find_thread_starts(&p);
	CHECK_STR(start_name(&p, thread), "main");
	dw_profile_release(&p);
}

TEST(of_several_starts_the_one_seen_most_counts)
{
	struct dw_profile p = DW_PROFILE_INIT;
	uint32_t program = mk_module(&p, "prog"), loader = mk_module(&p, "ld-linux-x86-64.so.2");
	uint32_t thread = mk_process(&p, 9, "prog"), constructor[2], cut[2], run;
	struct dw_extra wait = {.n = 1, .thread = thread};

	constructor[0] = frame_of(&p, loader, "call_init");
	constructor[1] = frame_of(&p, program, "set_up");
	run = frame_of(&p, program, "run");
	cut[0] = mk_cut(&p);
	cut[1] = frame_of(&p, program, "deep");
	mk_samples(&p, thread, mk_stack(&p, constructor, 2), 2);
	mk_samples(&p, thread, mk_stack(&p, cut, 2), 9);
	mk_samples(&p, thread, mk_stack(&p, &run, 1), 3);
	dw_find_thread_starts(&p);
	CHECK_STR(start_name(&p, thread), "run");
	/* waits count as well */
	wait.stack = mk_stack(&p, constructor, 2);
	for (int i = 0; i < 2; i++)
		if (dw_vec_push(&p.extras.rows, wait))
			abort();
	dw_find_thread_starts(&p);
	CHECK_STR(start_name(&p, thread), "set_up");
	dw_profile_release(&p);
}

TEST_MAIN()
