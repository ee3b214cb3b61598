/* Unit tests of src/record: what a session keeps of machine code, and how the command line is
 * noted. */
#include "check.h"

#include "record/code-budget.h"
#include "record/environment.h"

enum { FUNCTIONS = 40, CODE_BYTES = 100000 };

/* FUNCTIONS functions of equal size; function i has i exclusive samples. */
static void make_profile(struct dw_profile *p, struct dw_totals *t)
{
	for (uint32_t i = 1; i <= FUNCTIONS; i++) {
		struct dw_function f = {.module = 1, .name = i, .svma = i * 0x1000};
		uint32_t id;

		dw_functions_add(&p->functions, &f, &id);
		dw_vec_push(&p->codes.rows,
			    (struct dw_code){id, CODE_BYTES, f.svma, calloc(1, CODE_BYTES)});
		dw_vec_push(&t->functions, (struct dw_function_total){
						   .process = 1, .function = id, .values = {i, i}});
	}
}

static void release(struct dw_profile *p, struct dw_totals *t)
{
	dw_totals_release(t);
	dw_profile_release(p);
}

TEST(code_of_the_busiest_functions_is_kept)
{
	struct dw_profile p = DW_PROFILE_INIT;
	struct dw_totals t = {.samples = 20};

	make_profile(&p, &t);
	CHECK_INT(dw_code_budget_apply(&p, &t), 0);
	CHECK_INT(p.codes.rows.n, 10); /* a floor of 1 MB */
	CHECK_INT(p.codes.rows.v[0].function, FUNCTIONS);
	CHECK_INT(p.codes.rows.v[9].function, FUNCTIONS - 9);
	CHECK_INT(dw_facts_get(&p.facts, "code_bytes", -1), 10 * CODE_BYTES);
	CHECK_INT(dw_facts_get(&p.facts, "code_ranges_left_out", -1), 30);
	release(&p, &t);
}

TEST(more_samples_keep_more_code)
{
	struct dw_profile p = DW_PROFILE_INIT;
	struct dw_totals t = {.samples = 1000000};

	make_profile(&p, &t);
	CHECK_INT(dw_code_budget_apply(&p, &t), 0);
	CHECK_INT(p.codes.rows.n, FUNCTIONS);
	CHECK_INT(dw_facts_get(&p.facts, "code_ranges_left_out", -1), 0);
	release(&p, &t);
}

TEST(code_that_fits_needs_no_ranks)
{
	struct dw_profile p = DW_PROFILE_INIT;
	struct dw_totals t = {0};

	make_profile(&p, &t);
	CHECK(!dw_code_budget_fits(&p));
	CHECK_INT(dw_facts_get(&p.facts, "code_bytes", -1), -1);
	CHECK_INT(dw_facts_set_text(&p.facts, "method", "instrumentation"), 0);
	CHECK(dw_code_budget_fits(&p));
	CHECK_INT(p.codes.rows.n, FUNCTIONS);
	CHECK_INT(dw_facts_get(&p.facts, "code_bytes", -1), FUNCTIONS * CODE_BYTES);
	CHECK_INT(dw_facts_get(&p.facts, "code_ranges_left_out", -1), 0);
	release(&p, &t);
}

TEST(command_line_is_noted_as_a_shell_reads_it)
{
	struct dw_facts facts = {0};
	char words[][8] = {"./a b", "-x", "it's", "", "--n=1"};
	char *argv[] = {words[0], words[1], words[2], words[3], words[4], NULL};

	CHECK_INT(dw_note_start(&facts, "sampling", argv), 0);
	CHECK_STR(dw_facts_get_text(&facts, "command"), "'./a b' -x 'it'\\''s' '' --n=1");
	CHECK_STR(dw_facts_get_text(&facts, "method"), "sampling");
	dw_facts_release(&facts);
}

TEST_MAIN()
