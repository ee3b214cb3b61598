/*
 * Just My Code: what becomes of known stacks and calls under each rule, and what may never change,
 * on random ones.
 */
#include "analysis/just-my-code.h"

#include "analysis/totals.h"
#include "check.h"
#include "maker.h"
#include "row-amounts.h"

enum { OWN = 4, MINE = OWN + 4, SYSTEMS = 5, KERNELS = 3, ANY_STACKS = 300, DEPTH = 10 };

static const struct dw_my_code_rule strict, callees = {.keeps_callees = true},
					    callers = {.keeps_callers = true};

struct world {
	struct dw_profile p;
	uint32_t thread;
	uint32_t mine[MINE], systems[SYSTEMS]; /* frames */
	uint32_t start, cut, kernel[KERNELS];  /* frames */
};

static void begin(struct world *w)
{
	static const char *const mine[MINE] = {"main",
					       "a",
					       "b",
					       "c",
					       "std::rt::lang_start",
					       "std::panicking::try",
					       "core::ops::function::FnOnce::call_once",
					       "std::thread::spawn"};
	static const char *const systems[SYSTEMS] = {"qsort", "malloc", "brk", "run",
						     "__libc_start_main_impl"};
	struct dw_profile *p = &w->p;
	static const char *const kernel[KERNELS] = {"futex", "schedule", "asm_sysvec_timer"};
	uint32_t prog, libc, the_kernel;

	*w = (struct world){0};
	prog = mk_module(p, "prog");
	libc = mk_module(p, "libc.so.6");
	the_kernel = mk_module(p, "[kernel]");
	dw_modules_get(&p->modules, the_kernel)->kind = DWELL_MODULE_KERNEL;
	w->thread = mk_process(p, 7, "prog");
	for (uint32_t i = 0; i < MINE; i++)
		w->mine[i] =
			mk_plain_frame(p, mk_function(p, prog, mine[i], "a.c", i + 1), 0, i + 1);
	for (uint32_t i = 0; i < SYSTEMS; i++)
		w->systems[i] =
			mk_plain_frame(p, mk_function(p, libc, systems[i], "c.c", i + 1), 0, i + 1);
	for (uint32_t i = 0; i < KERNELS; i++)
		w->kernel[i] = mk_plain_frame(
			p, mk_function(p, the_kernel, kernel[i], "k.c", i + 1), 0, i + 1);
	w->start = mk_plain_frame(p, mk_function(p, prog, "_start", "a.c", 9), 0, 9);
	w->cut = mk_cut(p);
}

/* The function at @frame, "cut" where there is none. */
static const char *name_of(const struct world *w, uint32_t frame)
{
	uint32_t n;
	const struct dw_location *l = dw_locations_get(&w->p.locations, frame, &n);

	return n ? dw_strings_get(&w->p.strings,
				  dw_functions_get(&w->p.functions, l->function)->name)
		 : "cut";
}

static uint32_t frame_of(const struct world *w, const char *name)
{
	uint32_t id = dw_frames_count(&w->p.frames);

	while (id > 1 && strcmp(name_of(w, id), name) != 0)
		id--;
	return id;
}

/* A sample on the stack of these functions, outermost first, blanks between them. */
static void put_sample(struct world *w, const char *path)
{
	uint32_t frames[DEPTH + 1];
	char copy[256];
	size_t n = 0;

	snprintf(copy, sizeof copy, "%s", path);
	for (char *word = strtok(copy, " "); word; word = strtok(NULL, " "))
		frames[n++] = frame_of(w, word);
	mk_samples(&w->p, w->thread, mk_stack(&w->p, frames, n), 1);
}

/* The names on @stack, as put_sample() takes them. */
static const char *path_of(const struct world *w, uint32_t stack)
{
	static char text[256];
	char *at = text + sizeof text - 1;

	for (; stack; stack = dw_stacks_get(&w->p.stacks, stack)->parent) {
		const char *name = name_of(w, dw_stacks_get(&w->p.stacks, stack)->frame);

		if (*at)
			*--at = ' ';
		at -= strlen(name);
		memcpy(at, name, strlen(name));
	}
	return at;
}

/* What becomes of a sample on @path. */
static const char *fold(const char *path, const struct dw_my_code_rule *rule)
{
	const char *left = "an error";
	struct world w;
	size_t folded;

	begin(&w);
	put_sample(&w, path);
	if (!dw_fold_system_code(&w.p, rule, &folded, NULL))
		left = path_of(&w, w.p.samples.stack[0]);
	dw_profile_release(&w.p);
	return left;
}

TEST(stacks_under_each_rule)
{
	static const char inner[] = "_start run main a malloc brk",
			  back[] = "_start run main qsort run b malloc";

	CHECK_STR(fold(inner, &strict), "main a");
	CHECK_STR(fold(inner, &callees), "main a malloc");
	CHECK_STR(fold(inner, &callers), "run main a");
	CHECK_STR(fold(back, &strict), "main b");
	CHECK_STR(fold(back, &callees), "main qsort b malloc");
	CHECK_STR(fold(back, &callers), "run main run b");
	CHECK_STR(fold("main a b", &strict), "main a b");
	CHECK_STR(fold("cut malloc main brk", &strict), "cut main");
	/* A stripped program's beginning has no name. */
	CHECK_STR(fold("b __libc_start_main_impl main malloc", &strict), "main");
	/* What Rust's library has before the user's main, and what the user's code calls of it. */
	CHECK_STR(fold("_start __libc_start_main_impl main std::rt::lang_start std::panicking::try "
		       "core::ops::function::FnOnce::call_once a std::thread::spawn",
		       &strict),
		  "a std::thread::spawn");
	CHECK_STR(fold("main std::panicking::try a", &strict), "main std::panicking::try a");
	CHECK_STR(fold("main std::rt::lang_start brk", &strict), "main std::rt::lang_start brk");
	/* Nothing else is known of these. */
	CHECK_STR(fold("_start run brk", &strict), "_start run brk");
	CHECK_STR(fold("cut run brk", &strict), "cut run brk");
	CHECK_STR(fold("cut", &strict), "cut");
}

/* The user's code inlined into what a library has before it stays. */
TEST(inlined_into_a_start)
{
	struct dw_location chain[2];
	struct world w;
	uint32_t frames[4], n;
	size_t folded;

	begin(&w);
	chain[0] = *dw_locations_get(&w.p.locations, frame_of(&w, "a"), &n);
	chain[1] = *dw_locations_get(&w.p.locations, frame_of(&w, "std::panicking::try"), &n);
	frames[0] = frame_of(&w, "run");
	frames[1] = frame_of(&w, "std::panicking::try");
	frames[2] = mk_frame(&w.p, (struct dw_frame){.svma = 77, .module = 1}, chain, 2);
	frames[3] = frame_of(&w, "malloc");
	mk_samples(&w.p, w.thread, mk_stack(&w.p, frames, 4), 1);
	CHECK_INT(dw_fold_system_code(&w.p, &strict, &folded, NULL), 0);
	CHECK_STR(path_of(&w, w.p.samples.stack[0]), "a");
	dw_profile_release(&w.p);
}

/* What the kernel does in a call is nobody's question, whoever called. */
TEST(the_kernel_below_a_call_is_the_calls)
{
	CHECK_STR(fold("run brk futex schedule", &strict), "run brk");
	CHECK_STR(fold("run brk futex schedule", &callees), "run brk");
	CHECK_STR(fold("run brk futex schedule", &callers), "run brk");
	CHECK_STR(fold("main brk futex schedule", &callees), "main brk");
	/* A page fault; threads of the kernel's; what was not read on. */
	CHECK_STR(fold("main futex schedule", &callees), "main futex");
	CHECK_STR(fold("futex schedule", &callees), "futex schedule");
	CHECK_STR(fold("cut futex schedule", &callees), "cut futex schedule");
}

/* Nobody calls an interrupt: it takes its time from where it happened. */
TEST(interrupts_are_in_nobodys_way)
{
	CHECK_STR(fold("main asm_sysvec_timer schedule", &callees), "main");
	CHECK_STR(fold("main brk asm_sysvec_timer schedule", &callees), "main brk");
	CHECK_STR(fold("asm_sysvec_timer schedule", &callees), "asm_sysvec_timer schedule");
}

/* What is inlined into a function of the system's is that function; into the user's, it stays. */
TEST(functions_of_the_system_are_whole)
{
	struct dw_folded folded;
	struct world w;
	struct dw_location chain[2];
	uint32_t frames[2], n;

	begin(&w);
	for (uint32_t i = 0; i < 2; i++) {
		chain[0] = *dw_locations_get(&w.p.locations, frame_of(&w, i ? "malloc" : "a"), &n);
		chain[1] = *dw_locations_get(&w.p.locations, frame_of(&w, i ? "brk" : "b"), &n);
		frames[i] = mk_frame(&w.p, (struct dw_frame){.svma = 80 + i, .module = 1 + i},
				     chain, 2);
	}
	mk_samples(&w.p, w.thread, mk_stack(&w.p, frames, 2), 1);
	CHECK_INT(dw_folded_make(&w.p, &callees, &folded, NULL), 0);
	CHECK(dw_locations_get(&folded.profile.locations, frames[0], &n) && n == 2);
	CHECK_INT(dw_locations_get(&folded.profile.locations, frames[1], &n)->function,
		  chain[1].function);
	CHECK_INT(n, 1);
	CHECK(dw_locations_get(&w.p.locations, frames[1], &n) && n == 2);
	dw_folded_release(&folded);
	dw_profile_release(&w.p);
}

/* What is folded beside leaves the profile as it was. */
TEST(folded_beside)
{
	static const char path[] = "_start run main malloc brk";
	struct dw_folded folded;
	struct world w;

	begin(&w);
	put_sample(&w, path);
	CHECK_INT(dw_folded_make(&w.p, &callees, &folded, NULL), 0);
	CHECK(folded.paths > 0);
	CHECK_STR(path_of(&w, w.p.samples.stack[0]), path);
	dw_folded_follow(&folded, &w.p);
	CHECK_STR(path_of(&(struct world){.p = folded.profile}, folded.profile.samples.stack[0]),
		  "main malloc");
	dw_folded_release(&folded);
	CHECK_STR(path_of(&w, w.p.samples.stack[0]), path);
	dw_profile_release(&w.p);
}

/* Who asks for a function wants to see what is in it. */
TEST(a_function_that_is_asked_for_is_opened)
{
	struct world w;
	uint32_t frame, n;
	struct dw_my_code_rule rule = callees;

	begin(&w);
	frame = frame_of(&w, "malloc");
	rule.opened = dw_locations_get(&w.p.locations, frame, &n)->function;
	dw_profile_release(&w.p);
	CHECK_STR(fold("run main malloc brk run", &rule), "main malloc brk");
	CHECK_STR(fold("run main qsort malloc brk", &rule), "main qsort malloc brk");
}

/* What libraries are is the user's to say. */
TEST(modules_can_be_named)
{
	static const char *const prog[] = {"prog"}, *const libc[] = {"libc*"},
				 *const none[] = {"x"};
	const struct dw_my_code_rule all_mine = {.mine = libc, .mine_n = 1},
				     all_theirs = {.systems = prog, .systems_n = 1},
				     wrong = {.systems = none, .systems_n = 1};
	struct dw_error err = DW_ERROR_INIT;
	struct world w;
	size_t folded;

	CHECK_STR(fold("run main malloc", &all_mine), "run main malloc");
	CHECK_STR(fold("run main malloc", &all_theirs), "run main malloc");
	begin(&w);
	CHECK_INT(dw_fold_system_code(&w.p, &wrong, &folded, &err), DWELL_ERR_NOT_FOUND);
	CHECK(strstr(dw_error_message(&err), "'x'"));
	dw_error_clear(&err);
	dw_profile_release(&w.p);
}

/* Samples of each function of the user's, inclusive, and of all. */
static uint64_t count_mine(const struct world *w, uint64_t *inclusive)
{
	struct dw_totals t = {0};
	uint64_t all;

	if (dw_totals_compute(&w->p, NULL, DWELL_TOTALS_FUNCTIONS, &t))
		abort();
	memset(inclusive, 0, OWN * sizeof *inclusive);
	dw_vec_each(f, &t.functions)
		if (f->function - 1 < OWN)
			inclusive[f->function - 1] = dw_totals_values(&t, f->amounts)->inclusive;
	all = t.all[DWELL_MEASURE_SAMPLES];
	dw_totals_release(&t);
	return all;
}

TEST(times_of_ones_own_functions_stay)
{
	static const struct dw_my_code_rule rules[] = {
		{0},
		{.keeps_callees = true},
		{.keeps_callers = true},
		{.keeps_callees = true, .keeps_callers = true}};
	uint32_t state = 1;

	for (size_t round = 0; round < 40; round++) {
		uint64_t before[OWN], after[OWN], all;
		struct dw_error err = DW_ERROR_INIT;
		struct world w;
		size_t folded;

		begin(&w);
		for (int i = 0; i < ANY_STACKS; i++) {
			uint32_t frames[DEPTH + 1], n = 0;

			state = state * 1664525 + 1013904223;
			if (!(state >> 29))
				frames[n++] = w.cut;
			for (uint32_t depth = (state >> 16) % DEPTH; n < depth; n++) {
				state = state * 1664525 + 1013904223;
				frames[n] = state >> 31 ? w.mine[(state >> 16) % OWN]
							: w.systems[(state >> 16) % (SYSTEMS - 1)];
			}
			mk_samples(&w.p, w.thread, mk_stack(&w.p, frames, n), 1);
		}
		all = count_mine(&w, before);
		CHECK_INT(dw_fold_system_code(&w.p, &rules[round % 4], &folded, &err), 0);
		CHECK(folded > 0);
		CHECK_INT(count_mine(&w, after), all);
		CHECK(!memcmp(before, after, sizeof before));
		dw_profile_release(&w.p);
	}
}

static uint32_t put_call(struct world *w, uint32_t parent, uint32_t entry, uint32_t site,
			 uint64_t ns)
{
	uint32_t id = mk_call(&w->p, w->thread, parent, entry, site, 0);

	mk_delta(&w->p, 0, id,
		 (struct dw_call_values){.calls = 1, .elapsed_ns = ns, .application_ns = ns});
	return id;
}

/* Calls that fold away are no longer counted, their time goes to who called them, and a call by way
 * of them is made where the first of them was called. */
TEST(calls_lose_what_is_folded)
{
	struct dw_error err = DW_ERROR_INIT;
	uint32_t root, main, qsort, run, a;
	struct world w;
	size_t folded;

	begin(&w);
	mk_slice(&w.p, 1000);
	root = mk_call(&w.p, w.thread, 0, 0, 0, DWELL_CALL_ROOT);
	main = put_call(&w, root, w.mine[0], 0, 5);
	qsort = put_call(&w, main, w.systems[0], w.mine[3], 20);
	run = put_call(&w, qsort, w.systems[3], w.systems[0], 30);
	a = put_call(&w, run, w.mine[1], w.systems[3], 40);
	CHECK(!dw_vec_push(&w.p.calls.slow, ((struct dw_call_slow){.id = 1, .node = run})));
	CHECK(!dw_vec_push(&w.p.calls.slow, ((struct dw_call_slow){.id = 2, .node = a})));
	CHECK_INT(dw_fold_system_code(&w.p, &strict, &folded, &err), 0);
	CHECK_INT(folded, 2);
	CHECK_INT(dw_calls_get(&w.p.calls, a)->parent, main);
	CHECK_INT(dw_calls_get(&w.p.calls, a)->site, w.mine[3]);
	CHECK_INT(w.p.calls.slow.n, 1);
	CHECK_INT(w.p.calls.slow.v[0].node, a);
	CHECK_INT(w.p.calls.deltas.v[2].node, main);
	CHECK_INT(w.p.calls.deltas.v[2].values.elapsed_ns, 30);
	CHECK_INT(w.p.calls.deltas.v[2].values.calls, 0);
	CHECK_INT(w.p.calls.deltas.v[3].node, a);
	CHECK_INT(w.p.calls.deltas.v[3].values.calls, 1);
	dw_profile_release(&w.p);
}

TEST_MAIN()
