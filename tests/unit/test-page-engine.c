/* What the engine of a page keeps from one request to the next, and that it stays bounded. */
#include "check.h"
#include "maker.h"
#include "page/page-internal.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { FUNCTIONS = 24, WIDE = 500, BELOW_EACH = 401, MANY = 16 };

/* Where sessions come from, and how often. */
struct maker {
	void (*make)(struct dw_profile *p);
	int loads;
};

static int load(void *ctx, uint64_t from_ns, uint64_t to_ns, struct dw_profile *p,
		enum dw_recording_state *ret, struct dw_error *err)
{
	struct maker *m = ctx;

	(void)from_ns;
	(void)to_ns;
	(void)err;
	m->make(p);
	m->loads++;
	*ret = DWELL_RECORDING_ENDED;
	return 0;
}

static struct dw_page *open_page(struct maker *m)
{
	struct dw_page *page = NULL;

	if (dw_page_open(&(struct dw_page_source){"made", load, m}, &page, NULL))
		abort();
	return page;
}

/* The answer, the caller's. */
static char *ask(struct dw_page *page, const char *request)
{
	struct dw_out out;
	char *answer;

	dw_out_init_buffer(&out);
	dw_page_answer(page, request, strlen(request), &out);
	answer = strdup(dw_buf_str(&out.buf));
	dw_out_close(&out);
	return answer;
}

static bool is_error(const char *answer)
{
	return !strncmp(answer, "{\"error\"", strlen("{\"error\""));
}

/* main calls a function of the system, which leads by another one to one of the program, FUNCTIONS
 * times. */
static void make_folding(struct dw_profile *p)
{
	uint32_t prog = mk_module(p, "prog"), libc = mk_module(p, "libc.so.6");
	uint32_t thread = mk_process(p, 7, "prog"), stack[4];
	char name[32];

	stack[0] = mk_plain_frame(p, mk_function(p, prog, "main", "a.c", 1), 0, 1);
	stack[1] = mk_plain_frame(p, mk_function(p, libc, "qsort", "c.c", 1), 0, 1);
	for (uint32_t i = 0; i < FUNCTIONS; i++) {
		snprintf(name, sizeof name, "system_%u", i);
		stack[2] = mk_plain_frame(p, mk_function(p, libc, name, "c.c", i + 2), 0, i + 2);
		snprintf(name, sizeof name, "own_%u", i);
		stack[3] = mk_plain_frame(p, mk_function(p, prog, name, "a.c", i + 2), 0, i + 2);
		mk_samples(p, thread, mk_stack(p, stack, 4), 10 + i);
	}
}

TEST(totals_of_many_roots_are_not_all_kept)
{
	struct maker m = {make_folding, 0};
	struct dw_page *page = open_page(&m);
	char request[160], *first = NULL;

	for (unsigned i = 0; i <= FUNCTIONS; i++) {
		char *answer;

		snprintf(request, sizeof request,
			 "{\"op\": \"rows\", \"view\": \"calltree\", \"filter\": {\"root\": "
			 "\"own_%u\"}}",
			 i % FUNCTIONS);
		answer = ask(page, request);
		CHECK(!is_error(answer));
		if (i == FUNCTIONS)
			CHECK_STR(answer, first);
		if (i)
			free(answer);
		else
			first = answer;
		CHECK(page->totals.kept.n <= MANY);
	}
	CHECK_INT(page->totals.kept.n, MANY);
	free(first);
	dw_page_free(page);
}

TEST(profiles_folded_for_one_function_go_with_their_totals)
{
	struct maker m = {make_folding, 0};
	struct dw_page *page = open_page(&m);
	char request[160], *answer, *first;

	first = ask(page, "{\"op\": \"rows\", \"view\": \"functions\", \"filter\": "
			  "{\"all_code\": false}}");
	CHECK(!is_error(first) && !strstr(first, "system_0"));
	for (unsigned i = 0; i < FUNCTIONS; i++) {
		snprintf(request, sizeof request,
			 "{\"op\": \"rows\", \"view\": \"callers\", \"name\": \"system_%u\", "
			 "\"filter\": {\"all_code\": false}}",
			 i);
		answer = ask(page, request);
		snprintf(request, sizeof request, "own_%u", i);
		CHECK_CONTAINS(answer, request);
		free(answer);
		CHECK(page->totals.folded.n <= page->totals.kept.n);
		CHECK(page->totals.kept.n <= MANY);
	}
	answer = ask(page, "{\"op\": \"rows\", \"view\": \"functions\", \"filter\": "
			   "{\"all_code\": false}}");
	CHECK_STR(answer, first);
	free(answer);
	free(first);
	dw_page_free(page);
}

static void make_calls(struct dw_profile *p)
{
	uint32_t prog = mk_module(p, "prog"), thread = mk_process(p, 7, "prog");
	uint32_t entry = mk_plain_frame(p, mk_function(p, prog, "main", "a.c", 1), 0, 1);
	struct dw_call_values values = {.calls = 1, .elapsed_ns = 1000, .application_ns = 1000};

	if (dw_facts_set_text(&p->facts, "method", "instrumentation"))
		abort();
	mk_slice(p, 100000000);
	mk_delta(p, 0,
		 mk_call(p, thread, mk_call(p, thread, 0, 0, 0, DWELL_CALL_ROOT), entry, 0, 0),
		 values);
}

TEST(a_filter_that_fits_nothing_leaves_the_range)
{
	struct maker m = {make_calls, 0};
	struct dw_page *page = open_page(&m);
	char *answer;

	answer = ask(page, "{\"op\": \"rows\", \"view\": \"functions\", \"filter\": "
			   "{\"until\": 5000000, \"module\": \"nothing\"}}");
	CHECK(is_error(answer));
	free(answer);
	CHECK_INT(m.loads, 2);
	answer = ask(page, "{\"op\": \"rows\", \"view\": \"functions\"}");
	CHECK(!is_error(answer));
	free(answer);
	CHECK_INT(m.loads, 2);
	answer = ask(page, "{\"op\": \"rows\", \"view\": \"functions\", \"filter\": "
			   "{\"until\": 5000000}}");
	CHECK(!is_error(answer));
	free(answer);
	CHECK_INT(m.loads, 3);
	dw_page_free(page);
}

/* More nodes than a graph has room for, one sample in each of the inner ones. */
static void make_wide(struct dw_profile *p)
{
	uint32_t prog = mk_module(p, "prog"), thread = mk_process(p, 7, "prog");
	uint32_t frames[WIDE];

	for (uint32_t i = 0; i < WIDE; i++) {
		char name[32];

		snprintf(name, sizeof name, "f_%u", i);
		frames[i] = mk_plain_frame(p, mk_function(p, prog, name, "a.c", i + 1), 0, i + 1);
	}
	for (uint32_t i = 0; i < WIDE; i++)
		for (uint32_t k = 0; k < BELOW_EACH; k++)
			mk_samples(p, thread, mk_stack(p, (uint32_t[]){frames[i], frames[k]}, 2),
				   1);
}

/* The sum of the numbers that are the member @key of @answer, and how many they are. */
static uint64_t sum_of(const char *answer, const char *key, size_t *n)
{
	const char *at = strstr(answer, key);
	uint64_t sum = 0;
	char *end;

	for (*n = 0; at && *at != ']'; at = end) {
		at += strcspn(at, "0123456789]");
		if (*at == ']')
			break;
		sum += strtoull(at, &end, 10);
		++*n;
	}
	return sum;
}

TEST(what_a_flame_graph_has_no_room_for_is_told)
{
	struct maker m = {make_wide, 0};
	struct dw_page *page = open_page(&m);
	char *answer = ask(page, "{\"op\": \"flame\", \"min_share\": 0}");
	const char *cut = strstr(answer, "\"cut_share\": ");
	uint64_t own, all = (uint64_t)WIDE * BELOW_EACH;
	size_t n;

	CHECK(cut != NULL);
	own = sum_of(answer, "\"self\": [", &n);
	CHECK_INT(n, 200000);
	CHECK(own > 0 && own < all);
	/* The share has 6 digits. */
	CHECK_INT((uint64_t)(strtod(cut + strlen("\"cut_share\": "), NULL) * (double)all + .5) +
			  own,
		  all);
	free(answer);
	dw_page_free(page);
}

TEST_MAIN()
