/* Trees that unfold: what is a row, in which order, and how one gets to what is folded. */
#include "analysis/totals.h"
#include "check.h"
#include "maker.h"
#include "view/unfold.h"

#include <stdlib.h>

struct fixture {
	struct dw_profile profile;
	struct dw_totals totals;
	struct dw_view view;
	struct dw_unfold tree;
};

/* main 10: a 7: (c 4, d 3), b 3: (e 3); each function has a letter for a name. */
static void open_fixture(struct fixture *f, const struct dw_view_ops *ops, bool unfolding)
{
	static const struct {
		const char *path;
		size_t n;
	} stacks[] = {{"mbe", 3}, {"mad", 3}, {"mac", 4}};
	struct dw_view_request request = {
		.profile = &f->profile, .totals = &f->totals, .unfolding = unfolding};
	uint32_t frame[128] = {0}, module, thread;

	*f = (struct fixture){0};
	module = mk_module(&f->profile, "prog");
	thread = mk_process(&f->profile, 9, "prog");
	for (const char *c = "mabcde"; *c; c++)
		frame[(int)*c] = mk_plain_frame(
			&f->profile,
			mk_function(&f->profile, module, (const char[]){*c, 0}, "x.c", 1), 0, 2);
	for (size_t i = 0; i < 3; i++) {
		uint32_t frames[3];

		for (size_t k = 0; k < 3; k++)
			frames[k] = frame[(int)stacks[i].path[k]];
		mk_samples(&f->profile, thread, mk_stack(&f->profile, frames, 3), stacks[i].n);
	}
	if (dw_totals_compute(&f->profile, NULL, DWELL_TOTALS_ALL, &f->totals) ||
	    dw_view_open(&f->view, ops, &request) ||
	    (unfolding && dw_unfold_init(&f->tree, &f->view)))
		abort();
}

static void close_fixture(struct fixture *f)
{
	dw_unfold_release(&f->tree);
	dw_view_release(&f->view);
	dw_totals_release(&f->totals);
	dw_profile_release(&f->profile);
}

/* The names of the rows, one letter each. */
static const char *names(const struct fixture *f, char *ret)
{
	struct dw_buf scratch[2] = {DW_BUF_INIT, DW_BUF_INIT};
	struct dw_row row;
	struct dw_cell cell;
	size_t n = 0;

	for (size_t i = 0; i < f->view.n; i++) {
		dw_view_row(&f->view, i, &scratch[0], &row);
		dw_view_cell(&f->view, &row, DWELL_COLUMN_FUNCTION_NAME, &scratch[1], &cell);
		ret[n++] = cell.kind ? cell.text[0] : '?';
	}
	ret[n] = 0;
	dw_buf_release(&scratch[0]);
	dw_buf_release(&scratch[1]);
	return ret;
}

TEST(rows_are_what_was_unfolded)
{
	struct fixture f;
	char text[100];

	open_fixture(&f, &dw_view_calltree, true);
	CHECK_STR(names(&f, text), "p");
	CHECK(dw_unfold_has_children(&f.tree, 0));
	CHECK_INT(dw_unfold_open(&f.tree, 0), 0);
	CHECK_STR(names(&f, text), "pm");
	CHECK_INT(dw_unfold_open(&f.tree, 1), 0);
	CHECK_STR(names(&f, text), "pmab");
	CHECK_INT(dw_unfold_open(&f.tree, 3), 0);
	CHECK_INT(dw_unfold_open(&f.tree, 2), 0);
	CHECK_STR(names(&f, text), "pmacdbe");
	CHECK(!dw_unfold_has_children(&f.tree, 3));
	CHECK_INT(dw_unfold_open(&f.tree, 3), 0);
	CHECK_STR(names(&f, text), "pmacdbe");
	CHECK_INT(dw_unfold_parent(&f.tree, 4), 2);
	CHECK_INT(dw_unfold_parent(&f.tree, 0), 0);
	close_fixture(&f);
}

/* What was open below a folded row is again when that is unfolded. */
TEST(folded_rows_remember_what_was_below)
{
	struct fixture f;
	size_t last;
	char text[100];

	open_fixture(&f, &dw_view_calltree, true);
	CHECK_INT(dw_unfold_hot_path(&f.tree, 0, &last), 0);
	CHECK_STR(names(&f, text), "pmacdb");
	CHECK_INT(last, 3);
	dw_unfold_close(&f.tree, 1);
	CHECK_STR(names(&f, text), "pm");
	CHECK(!dw_unfold_is_open(&f.tree, 1));
	CHECK_INT(dw_unfold_open(&f.tree, 1), 0);
	CHECK_STR(names(&f, text), "pmacdb");
	close_fixture(&f);
}

TEST(what_is_folded_is_revealed)
{
	struct fixture f;
	size_t row;
	char text[100];

	open_fixture(&f, &dw_view_calltree, true);
	for (uint32_t i = 0; i < f.tree.n; i++) {
		CHECK_INT(dw_unfold_reveal(&f.tree, i, &row), 0);
		CHECK_INT(f.view.items[row], i);
	}
	CHECK_STR(names(&f, text), "pmacdbe");
	close_fixture(&f);
}

TEST(open_rows_are_sorted_anew)
{
	struct fixture f;
	size_t row;
	char text[100];

	open_fixture(&f, &dw_view_calltree, true);
	for (uint32_t i = 0; i < f.tree.n; i++)
		CHECK_INT(dw_unfold_reveal(&f.tree, i, &row), 0);
	f.view.request.reverse = true;
	CHECK_INT(dw_unfold_sort(&f.tree), 0);
	CHECK_STR(names(&f, text), "pmbeadc");
	f.view.request.sort = DWELL_COLUMN_FUNCTION_NAME;
	f.view.request.reverse = false;
	dw_unfold_close(&f.tree, 2);
	CHECK_INT(dw_unfold_sort(&f.tree), 0);
	CHECK_STR(names(&f, text), "pmacdb");
	close_fixture(&f);
}

/* All unfolded, a tree is that of the report; modules are one, too. */
TEST(unfolded_trees_are_those_of_reports)
{
	static const struct dw_view_ops *const trees[] = {&dw_view_calltree, &dw_view_modules};

	for (size_t i = 0; i < 2; i++) {
		struct fixture whole, f;
		char want[100], got[100];

		open_fixture(&whole, trees[i], false);
		open_fixture(&f, trees[i], true);
		CHECK(f.view.n < whole.view.n);
		for (size_t row = 0; row < f.view.n; row++)
			CHECK_INT(dw_unfold_open(&f.tree, row), 0);
		CHECK_STR(names(&f, got), names(&whole, want));
		close_fixture(&f);
		close_fixture(&whole);
	}
}

TEST_MAIN()
