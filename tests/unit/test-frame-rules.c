/* Steps from a frame to its caller, by each frame rule. */
#include "agent/clr/frame-rules-x86-64.h"

#include "check.h"

enum { WORDS = 32 };

static uint64_t stack[WORDS];

static uint64_t at(int word)
{
	return (uint64_t)&stack[word];
}

static bool is_at(struct dw_regs s, uint64_t ip, int rsp, uint64_t rbp)
{
	return s.ip == ip && s.rsp == at(rsp) && s.rbp == rbp;
}

TEST(a_step_goes_to_the_caller)
{
	struct dw_regs s = {1, at(2), at(6)};

	stack[6] = 77; /* the caller's frame pointer */
	stack[7] = 1000;
	CHECK(dw_frame_rule_step(&s, dw_frame_rule(DWELL_FRAME_RULE_RBP, -1), at(WORDS)));
	CHECK(is_at(s, 1000, 8, 77));
	s = (struct dw_regs){1, at(2), 5};
	CHECK(dw_frame_rule_step(&s, dw_frame_rule(5, -1), at(WORDS)));
	CHECK(is_at(s, 1000, 8, 5));
	s = (struct dw_regs){1, at(2), 5};
	CHECK(dw_frame_rule_step(&s, dw_frame_rule(5, 4), at(WORDS)));
	CHECK(is_at(s, 1000, 8, 77));
}

TEST(code_that_goes_on_is_left_with_what_it_stands_on)
{
	const uint32_t kind = dw_frame_rule(DWELL_FRAME_RULE_CONTINUED, 5);
	struct dw_regs s = {1, at(2), at(6)};

	stack[6] = 77;
	stack[7] = 1000; /* of the method's other code */
	stack[13] = 2000;
	CHECK(dw_frame_rule_leads(kind));
	CHECK(dw_frame_rule_step(&s, kind, at(WORDS)));
	CHECK(is_at(s, 2000, 14, 77));
}

TEST(nothing_behind_the_stack_is_read)
{
	struct dw_regs s = {1, at(2), at(6)};

	CHECK(!dw_frame_rule_step(&s, dw_frame_rule(DWELL_FRAME_RULE_CONTINUED, 5), at(13)));
	s = (struct dw_regs){1, at(2), at(6)};
	CHECK(!dw_frame_rule_step(&s, dw_frame_rule(DWELL_FRAME_RULE_RBP, -1), at(7)));
	s = (struct dw_regs){1, at(7), at(6)}; /* a frame pointer below the stack */
	CHECK(!dw_frame_rule_step(&s, dw_frame_rule(DWELL_FRAME_RULE_RBP, -1), at(WORDS)));
	s = (struct dw_regs){1, at(2), at(6)};
	CHECK(!dw_frame_rule_step(&s, dw_frame_rule(5, -1), at(7)));
}

TEST_MAIN()
