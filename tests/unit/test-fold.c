/* Stacks without their recursion have the frames and the calls of the whole ones. */
#include "agent/clr/tree.h"

#include "agent/core/agent.h"
#include "check.h"

const struct dw_agent_part dw_agent_part;

enum { FRAMES = 200, KINDS = 6 };

struct seen {
	bool frames[KINDS];
	bool calls[KINDS][KINDS];
};

static void see(const uint32_t *frames, uint32_t n, struct seen *ret)
{
	memset(ret, 0, sizeof *ret);
	for (uint32_t i = 0; i < n; i++) {
		ret->frames[frames[i]] = true;
		if (i + 1 < n)
			ret->calls[frames[i]][frames[i + 1]] = true;
	}
}

TEST(nothing_is_lost_and_little_is_left)
{
	uint32_t frames[FRAMES], state = 1;
	struct seen before, after;

	for (uint32_t round = 0; round < 20000; round++) {
		uint32_t n = round % FRAMES + 1, kinds = round % KINDS + 1, last, left;

		for (uint32_t i = 0; i < n; i++) {
			state = state * 1664525 + 1013904223;
			frames[i] = (state >> 16) % kinds;
		}
		last = frames[n - 1];
		see(frames, n, &before);
		left = dw_fold(frames, n);
		see(frames, left, &after);
		CHECK(!memcmp(&before, &after, sizeof before));
		CHECK_INT(frames[left - 1], last);
		CHECK(left <= n && left <= 2 * kinds * kinds * kinds);
	}
}

TEST(stacks_without_recursion_stay)
{
	uint32_t frames[] = {3, 1, 4, 5, 9, 2, 6};

	CHECK_INT(dw_fold(frames, 7), 7);
	CHECK_INT(frames[0], 3);
	CHECK_INT(frames[6], 6);
	CHECK_INT(dw_fold(frames, 0), 0);
}

TEST(one_call_of_itself_stays)
{
	uint32_t frames[] = {7, 1, 1, 1, 1, 1, 2};

	CHECK_INT(dw_fold(frames, 7), 4);
	CHECK_INT(frames[1], 1);
	CHECK_INT(frames[2], 1);
	CHECK_INT(frames[3], 2);
}

TEST_MAIN()
