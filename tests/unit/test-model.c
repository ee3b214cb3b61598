/* Unit tests of src/model. */
#include "check.h"

#include "model/function-name.h"
#include "model/profile.h"

TEST(frames_and_stacks_are_interned)
{
	struct dw_profile p = DW_PROFILE_INIT;
	uint32_t f1, f2, again, s1, s2, s3;

	CHECK_INT(dw_frames_add(&p.frames, (struct dw_frame){1, 0, 0x1000}, &f1), 0);
	CHECK_INT(dw_frames_add(&p.frames, (struct dw_frame){2, 0, 0x1000}, &f2), 0);
	CHECK_INT(dw_frames_add(&p.frames, (struct dw_frame){1, 0, 0x1000}, &again), 0);
	CHECK_INT(f1, again);
	CHECK(f1 != f2);
	CHECK_INT(dw_stacks_add(&p.stacks, 0, f1, &s1), 0);
	CHECK_INT(dw_stacks_add(&p.stacks, s1, f2, &s2), 0);
	CHECK_INT(dw_stacks_add(&p.stacks, s1, f2, &s3), 0);
	CHECK_INT(s2, s3);
	CHECK_INT(dw_stacks_get(&p.stacks, s2)->parent, s1);
	CHECK(!dw_stacks_get(&p.stacks, 99));
	dw_profile_release(&p);
}

TEST(inlined_and_real_copies_are_one_function)
{
	struct dw_functions t = {0};
	struct dw_function inlined = {.module = 1,
				      .name = 2,
				      .file = 3,
				      .line = 4,
				      .svma = 0x10,
				      .flags = DWELL_FUNCTION_INLINED};
	struct dw_function real = {
		.module = 1, .name = 2, .file = 3, .line = 4, .svma = 0x90, .bytes = 5};
	struct dw_function other = {.module = 1, .name = 2, .file = 3, .line = 9, .svma = 0x200};
	uint32_t a, b, c;

	CHECK_INT(dw_functions_add(&t, &inlined, &a), 0);
	CHECK_INT(dw_functions_add(&t, &real, &b), 0);
	CHECK_INT(dw_functions_add(&t, &other, &c), 0);
	CHECK_INT(a, b);
	CHECK(a != c);
	CHECK_INT(dw_functions_get(&t, a)->svma, 0x90);
	CHECK_INT(dw_functions_get(&t, a)->flags, 0);
	dw_functions_release(&t);
}

TEST(facts_replace)
{
	struct dw_facts t = {0};

	CHECK_INT(dw_facts_set(&t, "samples_kept", 5), 0);
	CHECK_INT(dw_facts_set_text(&t, "method", "sampling"), 0);
	CHECK_INT(dw_facts_set(&t, "samples_kept", 6), 0);
	CHECK_INT(dw_facts_get(&t, "samples_kept", -1), 6);
	CHECK_INT(dw_facts_get(&t, "absent", -1), -1);
	CHECK_STR(dw_facts_get_text(&t, "method"), "sampling");
	CHECK(!dw_facts_get_text(&t, "samples_kept"));
	CHECK_INT(t.rows.n, 2);
	dw_facts_release(&t);
}

/* Put bars where the parts of @want begin, whose own bars do not count: before the scopes, the own
 * name, what follows it, the parameters, the rest. */
static void mark_parts(const char *want, char *ret)
{
	struct dw_function_name parts;
	char name[256];
	size_t n = 0;

	for (const char *c = want; *c; c++)
		if (*c != '|')
			name[n++] = *c;
	name[n] = 0;
	dw_function_name_parse(name, n, &parts);
	for (size_t i = 0; i <= n; i++) {
		const size_t at[] = {parts.scope, parts.own, parts.own_end, parts.args,
				     parts.args_end};

		for (size_t k = 0; k < sizeof at / sizeof *at; k++)
			if (at[k] == i)
				*ret++ = '|';
		*ret++ = name[i];
	}
}

TEST(names_of_functions_have_parts)
{
	/* What tells alike names apart is not marked. */
	static const char *const wants[] = {
		"||main|||",
		"||main||(int, char**)|",
		"||work.part.0|||",
		"static std::vector<int> |ns::Box<long>::|get|<short>|(int, char const*)| const",
		"|(anonymous namespace)::|go||(int)|",
		"|ns::V::|operator<<|<int>|(int)|",
		"|ns::V::|operator<|<int>|(int)|",
		"|ns::V::|operator()||(int)|",
		"bool |std::|operator< |<char>|(int)|",
		"|ns::V::|operator bool||()| const",
		"|ns::V::|operator->||()|",
		"|ns::|f|[abi:cxx11]|(int)|",
		"|ns::|work||(int)| [clone .cold]",
		"|<a::Vec<T> as b::Iterator>::|next|||",
		"|a::Vec<_>::|grow|::<b::Global>||",
		"|main(int, char**)::|<lambda(int)>|||",
		"|prog::main::|{{closure}}|||",
		"|main::{lambda(int)#1}::|operator()||(int)| const",
		"|App.Tree.|Make||(int)|",
		"|System.Collections.Generic.List`1[System.Int32].|Add||(System.Int32)|",
		"|App.Program.|<Main>b__0_0||()|",
		"|System.Collections.Generic.List<T>.|Add|||",
		"|main.(*Tree).|insert|||",
		"||libwork.so.1+0x1234|||",
		"||JS:*fib /tmp/x.js:3|||",
		"||[unknown]|||",
	};

	for (size_t i = 0; i < sizeof wants / sizeof *wants; i++) {
		char got[280];

		mark_parts(wants[i], got);
		CHECK_STR(got, wants[i]);
	}
}

TEST_MAIN()
