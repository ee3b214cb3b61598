/*
 * A tiny TAP test header: TEST(name) { CHECK(...); } and TEST_MAIN(). A failed check prints its
 * values, ends its test and lets the others run.
 */
#pragma once

#include <inttypes.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Sanitizers keep what was freed: no bounds of memory there. */
#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
enum { IS_SANITIZED = 1 };
#else
enum { IS_SANITIZED = 0 };
#endif
#elif defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
enum { IS_SANITIZED = 1 };
#else
enum { IS_SANITIZED = 0 };
#endif

struct check_test {
	const char *name;
	void (*run)(bool *failed, const char **skipped);
	struct check_test *next;
};

static struct check_test *check_first, **check_last = &check_first;

/* Define and register a test. */
#define TEST(id)                                                              \
	static void run_##id(bool *check_failed, const char **check_skipped); \
	static struct check_test test_##id = {#id, run_##id, NULL};           \
	__attribute__((constructor)) static void register_##id(void)          \
	{                                                                     \
		*check_last = &test_##id;                                     \
		check_last = &test_##id.next;                                 \
	}                                                                     \
	static void run_##id(__attribute__((unused)) bool *check_failed,      \
			     __attribute__((unused)) const char **check_skipped)

#define CHECK_FAIL(...)                                  \
	do {                                             \
		printf("# %s:%d: ", __FILE__, __LINE__); \
		printf(__VA_ARGS__);                     \
		printf("\n");                            \
		*check_failed = true;                    \
		return;                                  \
	} while (0)

/* The condition holds. */
#define CHECK(cond)                              \
	do {                                     \
		if (!(cond))                     \
			CHECK_FAIL("%s", #cond); \
	} while (0)

/* Two integers are equal. */
#define CHECK_INT(got, want)                                                                   \
	do {                                                                                   \
		int64_t check_g = (int64_t)(got), check_w = (int64_t)(want);                   \
		if (check_g != check_w)                                                        \
			CHECK_FAIL("%s = %" PRId64 ", want %" PRId64, #got, check_g, check_w); \
	} while (0)

/* Two strings are equal; NULL equals nothing. */
#define CHECK_STR(got, want)                                                                       \
	do {                                                                                       \
		const char *check_g = (got), *check_w = (want);                                    \
		if (!check_g || !check_w || strcmp(check_g, check_w))                              \
			CHECK_FAIL("%s = \"%s\", want \"%s\"", #got, check_g ? check_g : "(null)", \
				   check_w ? check_w : "(null)");                                  \
	} while (0)

/* @text contains @part. */
#define CHECK_CONTAINS(text, part)                                        \
	do {                                                              \
		const char *check_t = (text), *check_p = (part);          \
		if (!check_t || !strstr(check_t, check_p))                \
			CHECK_FAIL("%s lacks \"%s\": %s", #text, check_p, \
				   check_t ? check_t : "(null)");         \
	} while (0)

/* End this test as skipped, for a printed reason; "needs: NAME" is one of NEEDS in
 * tests/e2e/harness.py. */
#define SKIP(reason)                       \
	do {                               \
		*check_skipped = (reason); \
		return;                    \
	} while (0)

/* Run all tests, or those named on the command line. */
static int check_run(int argc, char **argv)
{
	int n = 0, bad = 0, planned = 0;

	setvbuf(stdout, NULL, _IOLBF, 0);
	for (struct check_test *t = check_first; t; t = t->next)
		planned++;
	printf("TAP version 13\n1..%d\n", planned);
	for (struct check_test *t = check_first; t; t = t->next) {
		bool failed = false, wanted = argc < 2;
		const char *skipped = NULL;

		for (int i = 1; i < argc; i++)
			wanted |= !strcmp(argv[i], t->name);
		if (wanted)
			t->run(&failed, &skipped);
		bad += failed;
		printf("%sok %d - %s%s%s\n", failed ? "not " : "", ++n, t->name,
		       skipped || !wanted ? " # SKIP " : "",
		       skipped ? skipped : (wanted ? "" : "not asked for"));
	}
	return bad ? 1 : 0;
}

#define TEST_MAIN()                           \
	int main(int argc, char **argv)       \
	{                                     \
		return check_run(argc, argv); \
	}
