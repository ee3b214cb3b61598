/* Unit tests of src/record: what a session keeps of machine code, and how the command line is
 * noted. */
#include "check.h"

#include "record/finish.h"
#include "record/environment.h"
#include "record/sliced.h"

#include <sys/mman.h>
#include <unistd.h>

enum { FUNCTIONS = 40, CODE_BYTES = 100000 };

/* FUNCTIONS functions of equal size; function i has i exclusive samples. */
static void make_profile(struct dw_profile *p, struct dw_totals *t)
{
	dw_totals_init(t, (dw_measures)1 << DWELL_MEASURE_SAMPLES, 0);
	for (uint32_t i = 1; i <= FUNCTIONS; i++) {
		struct dw_function f = {.module = 1, .name = i, .svma = i * 0x1000};
		uint32_t id, amounts;

		dw_functions_add(&p->functions, &f, &id);
		dw_vec_push(&p->codes.rows,
			    (struct dw_code){id, CODE_BYTES, f.svma, calloc(1, CODE_BYTES)});
		amounts = dw_amounts_push(&t->amounts);
		*dw_amounts_common(&t->amounts, amounts, DWELL_MEASURE_SAMPLES) =
			(struct dw_values){i, i};
		dw_vec_push(&t->functions, (struct dw_function_total){
						   .lane = 1, .function = id, .amounts = amounts});
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
	struct dw_totals t = {.all[DWELL_MEASURE_SAMPLES] = 20};

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
	struct dw_totals t = {.all[DWELL_MEASURE_SAMPLES] = 1000000};

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

/* The name of process @pid, which is gone, and whose region has @header. */
static const char *name_of_gone(bool *check_failed, struct dw_recorded_processes *r, pid_t pid,
				const struct dw_region_header *header)
{
	struct dw_region_head head = {.module_n = header->module_n,
				      .parent_pid = header->parent_pid};
	struct dw_region_look look = {
		.fd = memfd_create("region", MFD_CLOEXEC), .owner = {.pid = pid}, .head = &head};
	uint32_t id = 0;

	if (write(look.fd, header, sizeof *header) != sizeof *header ||
	    dw_recorded_process(r, &look, NULL, 0, &id))
		*check_failed = true;
	close(look.fd);
	return id ? dw_strings_get(&r->p->strings, dw_processes_get(&r->p->processes, id)->name)
		  : NULL;
}

/* Short ones are gone, and their parents too, before anybody looks. */
TEST(processes_that_are_gone_have_names)
{
	static struct dw_region_header h; /* large */
	struct dw_profile p = DW_PROFILE_INIT;
	struct dw_recorded_processes r = {.p = &p};

	h.parent_pid = 10;
	CHECK_STR(name_of_gone(check_failed, &r, 11, &h), "[process 11]");
	h.module_n = 2;
	strcpy(h.modules[0].path, "/lib/libc.so.6");
	strcpy(h.modules[1].path, "/usr/bin/thing");
	h.modules[1].is_main = 1;
	CHECK_STR(name_of_gone(check_failed, &r, 12, &h), "thing");
	h.module_n = 0;
	h.parent_pid = 12;
	CHECK_STR(name_of_gone(check_failed, &r, 13, &h), "thing");
	dw_recorded_processes_release(&r);
	dw_profile_release(&p);
}

TEST_MAIN()
