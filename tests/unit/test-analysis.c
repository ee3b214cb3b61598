/*
 * Totals against a plain count: random profiles with recursion, inlined functions, cut and empty
 * stacks and several processes are counted sample by sample with sets, the slow and obvious way.
 */
#include "analysis/filter.h"
#include "analysis/nameless.h"
#include "analysis/prune.h"
#include "analysis/totals.h"
#include "check.h"
#include "maker.h"
#include "rows.h"

static const struct dw_filter each_process = {.by = DWELL_BY_PROCESS};

enum { FUNCTIONS = 12, FRAMES = 60, STACKS = 400, SAMPLES = 1000, THREADS = 6, DEPTH = 12 };

static uint32_t roll(uint64_t *state, uint32_t n)
{
	*state = dw_hash_u64(*state + 0x9e3779b97f4a7c15u);
	return (uint32_t)(*state % n);
}

static void make_frames(struct dw_profile *p, uint64_t *seed)
{
	mk_cut(p);
	for (uint32_t i = 0; i < FRAMES; i++) {
		struct dw_location chain[3];
		uint32_t n = roll(seed, 4);

		for (uint32_t k = 0; k < n && k < 3; k++) {
			chain[k] = (struct dw_location){.function = 1 + roll(seed, FUNCTIONS),
							.file = 1,
							.line = 1 + roll(seed, 5)};
		}
		mk_frame(p, (struct dw_frame){1 + i % 2, DWELL_FRAME_CODE, 0x1000 + i}, chain,
			 n > 3 ? 3 : n);
	}
}

/* Random stacks: one in eight cut, one in fifty empty. */
static uint32_t make_stack(struct dw_profile *p, uint64_t *seed)
{
	uint32_t frames[DEPTH + 1], n = 0;

	if (!roll(seed, 50))
		return 0;
	if (!roll(seed, 8))
		frames[n++] = 1;
	for (uint32_t depth = roll(seed, DEPTH) + !n; n < depth;)
		frames[n++] = 2 + roll(seed, roll(seed, 2) ? 4 : FRAMES);
	return mk_stack(p, frames, n);
}

static void make_random(struct dw_profile *p, uint64_t seed)
{
	uint32_t modules[2] = {mk_module(p, "prog"), mk_module(p, "lib.so")}, stacks[STACKS];

	for (uint32_t i = 0; i < FUNCTIONS; i++) {
		char name[16];

		snprintf(name, sizeof name, "f%u", i);
		mk_function(p, modules[i % 2], name, "a.c", 10 * i);
	}
	make_frames(p, &seed);
	for (uint32_t i = 0; i < THREADS; i++) {
		struct dw_thread t = {.process = i / 2 + 1, .tid = 100 + (int32_t)i};
		struct dw_process q = {.pid = 100 + (int32_t)i};
		uint32_t id;

		if ((i % 2 == 0 && dw_processes_add(&p->processes, &q, &id)) ||
		    dw_threads_add(&p->threads, &t, &id))
			abort();
	}
	for (uint32_t i = 0; i < STACKS; i++)
		stacks[i] = make_stack(p, &seed);
	/* The last thread of all stays without samples. */
	for (uint32_t i = 0; i < SAMPLES; i++)
		mk_samples(p, 1 + roll(&seed, THREADS - 1), stacks[roll(&seed, STACKS)], 1);
}

/* One sample's functions, outermost first, as the totals should see them. */
static size_t list_functions(const struct dw_profile *p, uint32_t stack, uint32_t *ret)
{
	uint32_t frames[64], depth = 0;
	size_t n = 0;

	for (uint32_t s = stack; s; s = dw_stacks_get(&p->stacks, s)->parent)
		frames[depth++] = dw_stacks_get(&p->stacks, s)->frame;
	while (depth--) {
		uint32_t k;
		const struct dw_location *l = dw_locations_get(&p->locations, frames[depth], &k);

		if (dw_frames_get(&p->frames, frames[depth])->kind == DWELL_FRAME_CUT)
			ret[n++] = (uint32_t)DWELL_FUNCTION_CUT;
		else if (!k)
			ret[n++] = (uint32_t)DWELL_FUNCTION_UNKNOWN;
		while (k--)
			ret[n++] = l[k].function;
	}
	if (!n)
		ret[n++] = (uint32_t)DWELL_FUNCTION_UNKNOWN;
	return n;
}

static bool holds(const uint32_t *list, size_t n, uint32_t x)
{
	while (n)
		if (list[--n] == x)
			return true;
	return false;
}

/* The slow count of one function in one process. */
static struct dw_values count_function(const struct dw_profile *p, uint32_t process, uint32_t f)
{
	struct dw_values v = {0};
	uint32_t list[64];

	for (size_t i = 0; i < p->samples.n; i++) {
		size_t n = list_functions(p, p->samples.stack[i], list);

		if (dw_threads_get(&p->threads, p->samples.thread[i])->process != process)
			continue;
		if (list[n - 1] == (uint32_t)DWELL_FUNCTION_CUT)
			list[n - 1] = (uint32_t)DWELL_FUNCTION_UNKNOWN;
		v.inclusive += holds(list, n, f);
		v.exclusive += list[n - 1] == f;
	}
	return v;
}

static struct dw_values count_edge(const struct dw_profile *p, const struct dw_edge_total *e)
{
	struct dw_values v = {0};
	uint32_t list[64];

	for (size_t i = 0; i < p->samples.n; i++) {
		size_t n = list_functions(p, p->samples.stack[i], list);
		bool on_path = false, innermost = false;

		if (dw_threads_get(&p->threads, p->samples.thread[i])->process != e->lane)
			continue;
		if (list[n - 1] == (uint32_t)DWELL_FUNCTION_CUT)
			list[n++] = (uint32_t)DWELL_FUNCTION_UNKNOWN;
		for (size_t k = 0; k < n; k++) {
			innermost = (k ? list[k - 1] : 0) == e->caller && list[k] == e->callee;
			on_path |= innermost;
		}
		v.inclusive += on_path;
		v.exclusive += innermost;
	}
	return v;
}

/* The samples of a row of @t. */
#define OF(t, row) dw_totals_values(&(t), (row)->amounts)

/* The samples of all rows of @list of @t that are their own. */
#define SUM(t, list)                                  \
	({                                            \
		uint64_t sum_ = 0;                    \
		dw_vec_each(r_, &(t).list)            \
			sum_ += OF(t, r_)->exclusive; \
		sum_;                                 \
	})

/* Likewise of all nodes. */
static struct dw_values sum_of_nodes(const struct dw_totals *t)
{
	struct dw_values sum = {0};

	for (size_t i = 0; i < t->nodes.n; i++) {
		sum.inclusive += rows_node_values(t, i)->inclusive;
		sum.exclusive += rows_node_values(t, i)->exclusive;
	}
	return sum;
}

TEST(functions_and_edges_equal_the_plain_count)
{
	for (uint64_t seed = 1; seed <= 5; seed++) {
		struct dw_profile p = DW_PROFILE_INIT;
		struct dw_totals t = {0};

		make_random(&p, seed);
		CHECK_INT(dw_totals_compute(&p, &each_process, DWELL_TOTALS_ALL, &t), 0);
		dw_vec_each(row, &t.functions) {
			struct dw_values want = count_function(&p, row->lane, row->function);

			CHECK_INT(OF(t, row)->inclusive, want.inclusive);
			CHECK_INT(OF(t, row)->exclusive, want.exclusive);
		}
		dw_vec_each(row, &t.edges) {
			struct dw_values want = count_edge(&p, row);

			CHECK_INT(OF(t, row)->inclusive, want.inclusive);
			CHECK_INT(OF(t, row)->exclusive, want.exclusive);
		}
		CHECK(t.functions.n > FUNCTIONS && t.edges.n > FUNCTIONS);
		dw_totals_release(&t);
		dw_profile_release(&p);
	}
}

TEST(every_view_adds_up_to_all_samples)
{
	struct dw_profile p = DW_PROFILE_INIT;
	struct dw_totals t = {0};

	make_random(&p, 7);
	CHECK_INT(dw_totals_compute(&p, &each_process, DWELL_TOTALS_ALL, &t), 0);
	CHECK_INT(t.all[DWELL_MEASURE_SAMPLES], SAMPLES);
	CHECK_INT(SUM(t, functions), SAMPLES);
	CHECK_INT(SUM(t, modules), SAMPLES);
	CHECK_INT(SUM(t, lines), SAMPLES);
	CHECK_INT(SUM(t, instructions), SAMPLES);
	CHECK_INT(SUM(t, edges), SAMPLES);
	CHECK_INT(sum_of_nodes(&t).exclusive, SAMPLES);
	CHECK_INT(SUM(t, processes), SAMPLES);
	CHECK_INT(SUM(t, threads), SAMPLES);
	CHECK_INT(t.processes.n, 3);
	CHECK_INT(t.threads.n, THREADS);
	CHECK_INT(OF(t, &t.threads.v[THREADS - 1])->inclusive, 0);
	dw_vec_each(row, &t.modules)
		CHECK(OF(t, row)->inclusive <= OF(t, &t.processes.v[row->lane - 1])->inclusive);
	dw_totals_release(&t);
	dw_profile_release(&p);
}

TEST(tree_equals_the_paths_of_the_samples)
{
	struct dw_profile p = DW_PROFILE_INIT;
	struct dw_totals t = {0};

	make_random(&p, 9);
	CHECK_INT(dw_totals_compute(&p, &each_process, DWELL_TOTALS_NODES, &t), 0);
	/* Follow each sample down the tree and take it away: all must come out at zero. */
	for (size_t i = 0; i < p.samples.n; i++) {
		uint32_t list[64],
			process = dw_threads_get(&p.threads, p.samples.thread[i])->process;
		size_t n = list_functions(&p, p.samples.stack[i], list), at = 0;

		while (t.nodes.v[at].parent != UINT32_MAX || t.nodes.v[at].lane != process)
			at++;
		for (size_t k = 0;; k++) {
			uint32_t up = (uint32_t)at;

			CHECK_INT(t.nodes.v[at].level, k);
			rows_node_values(&t, at)->inclusive--;
			if (k == n)
				break;
			for (at = up + 1;
			     t.nodes.v[at].parent != up || t.nodes.v[at].function != list[k];)
				at++;
		}
		rows_node_values(&t, at)->exclusive--;
	}
	CHECK_INT(sum_of_nodes(&t).exclusive, 0);
	CHECK_INT(sum_of_nodes(&t).inclusive, 0);
	/* Siblings are neighbours: no parent gets a second run of children. */
	for (size_t i = 1; i < t.nodes.n; i++) {
		uint32_t up = t.nodes.v[i].parent;

		if (up == UINT32_MAX || up == t.nodes.v[i - 1].parent)
			continue;
		CHECK(up < i);
		for (size_t k = 0; k < i; k++)
			CHECK(t.nodes.v[k].parent != up);
	}
	dw_totals_release(&t);
	dw_profile_release(&p);
}

TEST(tree_below_a_function_holds_its_inclusive_value)
{
	struct dw_profile p = DW_PROFILE_INIT;
	struct dw_totals t = {0}, flat = {0};

	make_random(&p, 11);
	CHECK_INT(dw_totals_compute(&p, &each_process, DWELL_TOTALS_FUNCTIONS, &flat), 0);
	for (uint32_t f = 1; f <= FUNCTIONS; f++) {
		struct dw_filter filter = {.by = DWELL_BY_PROCESS, .focus.root = f};
		uint64_t roots = 0, want = 0;

		CHECK_INT(dw_totals_compute(&p, &filter, DWELL_TOTALS_NODES, &t), 0);
		dw_vec_each(n, &t.nodes)
			if (!n->level) {
				CHECK_INT(n->function, f);
				roots += rows_node_values(&t, (size_t)(n - t.nodes.v))->inclusive;
			}
		dw_vec_each(row, &flat.functions)
			want += row->function == f ? OF(flat, row)->inclusive : 0;
		CHECK_INT(roots, want);
		CHECK_INT(sum_of_nodes(&t).exclusive, want);
	}
	dw_totals_release(&t);
	dw_totals_release(&flat);
	dw_profile_release(&p);
}

TEST(filters_keep_what_they_name)
{
	static const char *const process[] = {"102"}, *const thread[] = {"101"},
				 *const module[] = {"lib*"}, *const none[] = {"nope"};
	struct dw_filter_words words[] = {{.processes = process, .processes_n = 1},
					  {.threads = thread, .threads_n = 1},
					  {.modules = module, .modules_n = 1},
					  {.from_ns = 5000000, .to_ns = 9000000}};
	struct dw_filter_words bad = {.threads = none, .threads_n = 1};
	struct dw_profile p = DW_PROFILE_INIT;
	struct dw_filter_owned f;
	struct dw_error err = DW_ERROR_INIT;
	struct dw_totals t = {0};
	uint64_t got[4], want[4] = {0, 0, 0, 4};

	make_random(&p, 13);
	for (size_t i = 0; i < 4; i++) {
		CHECK_INT(dw_filter_resolve(&p, &words[i], &f, NULL), 0);
		CHECK_INT(dw_totals_compute(&p, &f.filter, DWELL_TOTALS_MODULES, &t), 0);
		got[i] = t.all[DWELL_MEASURE_SAMPLES];
		CHECK_INT(SUM(t, modules), t.all[DWELL_MEASURE_SAMPLES]);
		dw_filter_release(&f);
	}
	for (size_t i = 0; i < p.samples.n; i++) {
		uint32_t s = p.samples.stack[i];

		want[0] += dw_threads_get(&p.threads, p.samples.thread[i])->process == 2;
		want[1] += p.samples.thread[i] == 2;
		want[2] +=
			s &&
			dw_frames_get(&p.frames, dw_stacks_get(&p.stacks, s)->frame)->module == 2;
	}
	for (size_t i = 0; i < 4; i++)
		CHECK_INT(got[i], want[i]);
	CHECK_INT(dw_filter_resolve(&p, &bad, &f, &err), DWELL_ERR_NOT_FOUND);
	CHECK_STR(dw_error_message(&err), "no thread 'nope' in this session");
	dw_filter_release(&f);
	dw_error_clear(&err);
	dw_totals_release(&t);
	dw_profile_release(&p);
}

/* A process is what has the name; else what reports call so; else what was executed so. */
TEST(processes_are_found_by_name_and_command)
{
	static const struct {
		const char *word;
		uint32_t first;
		size_t n;
	} wanted[] = {{"cc1plus", 1, 3},
		      {"202", 2, 1},
		      {"cc1plus format.cc", 2, 1},
		      {"cc1plus *.cc", 1, 2},
		      {"cc1plus -O2 format.cc", 2, 1},
		      {"odd", 4, 1},
		      {"*format*", 2, 2}};
	struct dw_profile p = DW_PROFILE_INIT;
	struct dw_error err = DW_ERROR_INIT;
	const char *const bad = "cc1plus formax.cc";
	struct dw_filter_owned f;

	mk_process(&p, 201, "cc1plus");
	mk_process(&p, 202, "cc1plus");
	mk_process(&p, 203, "cc1plus");
	mk_process(&p, 204, "odd");
	mk_process(&p, 205, "other");
	CHECK_INT(dw_process_set_command(&p, 1, "cc1plus shop.cc", "cc1plus -O2 shop.cc"), 0);
	CHECK_INT(dw_process_set_command(&p, 2, "cc1plus format.cc", "cc1plus -O2 format.cc"), 0);
	CHECK_INT(dw_process_set_command(&p, 5, "odd", "odd format.cc"), 0);
	CHECK_INT(dw_process_set_command(&p, 3, "as format.s", "as format.s"), 0);
	for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++) {
		struct dw_filter_words words = {.processes = &wanted[i].word, .processes_n = 1};

		CHECK_INT(dw_filter_resolve(&p, &words, &f, NULL), 0);
		CHECK_INT(f.processes.n, wanted[i].n);
		CHECK_INT(f.processes.v[0], wanted[i].first);
		dw_filter_release(&f);
	}
	CHECK_INT(dw_filter_resolve(&p,
				    &(struct dw_filter_words){.processes = &bad, .processes_n = 1},
				    &f, &err),
		  DWELL_ERR_NOT_FOUND);
	CHECK_STR(dw_error_message(&err),
		  "no process 'cc1plus formax.cc' in this session (did you mean cc1plus "
		  "format.cc?)");
	dw_filter_release(&f);
	dw_error_clear(&err);
	dw_profile_release(&p);
}

/* main -> run -> {work 60, rest 30, tiny 1}, and 9 samples in main itself. */
static void make_plain(struct dw_profile *p)
{
	uint32_t m = mk_module(p, "prog"), t = mk_process(p, 7, "prog"), f[5], frames[5];
	const char *names[] = {"main", "run", "work", "rest", "tiny"};
	const size_t weights[] = {9, 0, 60, 30, 1};

	for (uint32_t i = 0; i < 5; i++) {
		f[i] = mk_function(p, m, names[i], "a.c", i * 10);
		frames[i] = mk_plain_frame(p, f[i], 4, i * 10 + 1);
	}
	mk_samples(p, t, mk_stack(p, frames, 1), weights[0]);
	for (uint32_t i = 2; i < 5; i++) {
		uint32_t path[] = {frames[0], frames[1], frames[i]};

		mk_samples(p, t, mk_stack(p, path, 3), weights[i]);
	}
}

TEST(hot_path_needs_half_of_the_parent)
{
	static const uint32_t want[] = {0, 1, 2, 3};
	struct dw_profile p = DW_PROFILE_INIT;
	struct dw_hot_path path;
	struct dw_totals t = {0};

	make_plain(&p);
	CHECK_INT(dw_totals_compute(&p, &each_process, DWELL_TOTALS_NODES, &t), 0);
	CHECK_INT(dw_hot_path_find(&t, &path), 0);
	CHECK_INT(path.nodes.n, 4);
	for (size_t i = 0; i < 4; i++)
		CHECK_INT(t.nodes.v[path.nodes.v[i]].function, want[i]);
	t.nodes.v[path.nodes.v[3]].function = (uint32_t)DWELL_FUNCTION_TRUNCATED;
	dw_hot_path_release(&path);
	CHECK_INT(dw_hot_path_find(&t, &path), 0);
	CHECK_INT(path.nodes.n, 3);
	dw_hot_path_release(&path);
	dw_totals_release(&t);
	CHECK_INT(dw_hot_path_find(&t, &path), 0);
	CHECK_INT(path.nodes.n, 0);
	dw_hot_path_release(&path);
	dw_profile_release(&p);
}

TEST(trim_hides_and_fold_joins)
{
	struct dw_prune_options options = {.trim_pct = 10, .fold = true};
	struct dw_profile p = DW_PROFILE_INIT;
	struct dw_totals t = {0};
	uint8_t *shape;

	make_plain(&p);
	CHECK_INT(dw_totals_compute(&p, &each_process, DWELL_TOTALS_NODES, &t), 0);
	CHECK_INT(dw_prune_nodes(&t, &options, &shape), 0);
	for (size_t i = 0; i < t.nodes.n; i++) {
		uint32_t f = t.nodes.v[i].function;

		/* main has 9 % of its own: too little to keep it apart from its only child. */
		CHECK_INT(shape[i], f == 5 ? DWELL_NODE_TRIMMED : f == 2 ? DWELL_NODE_FOLDED : 0);
	}
	free(shape);
	dw_totals_release(&t);
	dw_profile_release(&p);
}

/* Whether node @i has two percent of all samples. */
static bool is_heavy(const struct dw_totals *t, size_t i)
{
	return rows_node_values(t, i)->inclusive * 100 >= 2 * t->all[DWELL_MEASURE_SAMPLES];
}

TEST(focus_leaves_out_what_nobody_asked_for)
{
	struct dw_profile p = DW_PROFILE_INIT;
	struct dw_totals all = {0}, some = {0};
	struct dw_filter filter = {.by = DWELL_BY_PROCESS, .focus.min_pct = 2};
	struct dw_hot_path want, got;
	size_t heavy = 0, edges = 0, branches = 0;
	uint64_t weight = 0;

	make_random(&p, 17);
	CHECK_INT(dw_totals_compute(&p, &each_process, DWELL_TOTALS_ALL, &all), 0);
	CHECK_INT(dw_totals_compute(&p, &filter, DWELL_TOTALS_NODES, &some), 0);
	for (size_t i = 0; i < all.nodes.n; i++) {
		heavy += !all.nodes.v[i].level || is_heavy(&all, i);
		/* What is below a root that is no row itself is no branch of its own. */
		if (all.nodes.v[i].level && !is_heavy(&all, i) &&
		    is_heavy(&all, all.nodes.v[i].parent)) {
			branches++;
			weight += rows_node_values(&all, i)->inclusive;
		}
	}
	CHECK(heavy < all.nodes.n && branches > 0);
	CHECK_INT(some.branches_left_out, branches);
	CHECK_INT(some.weight_left_out, weight);
	CHECK_INT(some.nodes.n, heavy);
	for (size_t i = 0; i < some.nodes.n; i++)
		CHECK(!some.nodes.v[i].level || is_heavy(&some, i));

	filter.focus = (struct dw_focus){.hot_path = true};
	CHECK_INT(dw_totals_compute(&p, &filter, DWELL_TOTALS_NODES, &some), 0);
	CHECK_INT(dw_hot_path_find(&all, &want), 0);
	CHECK_INT(dw_hot_path_find(&some, &got), 0);
	CHECK_INT(got.nodes.n, want.nodes.n);
	for (size_t i = 0; i < want.nodes.n; i++)
		CHECK(!memcmp(rows_node_values(&all, want.nodes.v[i]),
			      rows_node_values(&some, got.nodes.v[i]), sizeof(struct dw_values)));
	dw_hot_path_release(&want);
	dw_hot_path_release(&got);

	filter.focus = (struct dw_focus){.function = 3};
	CHECK_INT(dw_totals_compute(&p, &filter, DWELL_TOTALS_EDGES, &some), 0);
	dw_vec_each(e, &all.edges)
		edges += e->caller == 3 || e->callee == 3;
	CHECK_INT(some.edges.n, edges);
	dw_vec_each(e, &some.edges) {
		struct dw_values v = count_edge(&p, e);

		CHECK(!memcmp(&v, OF(some, e), sizeof v));
	}
	dw_totals_release(&all);
	dw_totals_release(&some);
	dw_profile_release(&p);
}

TEST(first_rows_of_a_tree_need_no_others)
{
	struct dw_profile p = DW_PROFILE_INIT;
	struct dw_totals all = {0}, some = {0};

	make_random(&p, 5);
	CHECK_INT(dw_totals_compute(&p, &each_process, DWELL_TOTALS_NODES, &all), 0);
	for (size_t rows = 1; rows <= 64; rows++) {
		struct dw_filter filter = {.by = DWELL_BY_PROCESS, .focus.rows = rows};

		CHECK_INT(dw_totals_compute(&p, &filter, DWELL_TOTALS_NODES, &some), 0);
		CHECK(rows_agree(&all, &some, rows));
		CHECK(some.nodes.n < all.nodes.n / 2);
	}
	dw_totals_release(&all);
	dw_totals_release(&some);
	dw_profile_release(&p);
}

TEST(functions_are_found_by_name_glob_and_part)
{
	struct dw_profile p = DW_PROFILE_INIT;
	struct dw_error err = DW_ERROR_INIT;
	uint32_t m, id = 0;

	make_plain(&p);
	m = mk_module(&p, "lib.so");
	mk_function(&p, m, "main", NULL, 0);
	mk_function(&p, m, "std::vector<int>::push_back(int&&)", NULL, 0);
	CHECK_INT(dw_match_function(&p, "work", &id, NULL), 0);
	CHECK_INT(id, 3);
	CHECK_INT(dw_match_function(&p, "t*y", &id, NULL), 0);
	CHECK_INT(id, 5);
	CHECK_INT(dw_match_function(&p, "push_back", &id, NULL), 0);
	CHECK_INT(id, 7);
	CHECK_INT(dw_match_function(&p, "lib.so!main", &id, NULL), 0);
	CHECK_INT(id, 6);
	CHECK_INT(dw_match_function(&p, "prog!0x1000", &id, NULL), 0);
	CHECK_INT(id, 1);
	CHECK_INT(dw_match_function(&p, "main", &id, &err), DWELL_ERR_NOT_FOUND);
	CHECK_STR(dw_error_message(&err), "'main' means 2 functions:");
	CHECK_STR(err.lines, "\n  prog!main\n  lib.so!main");
	dw_error_clear(&err);
	CHECK_INT(dw_match_function(&p, "absent", &id, NULL), DWELL_ERR_NOT_FOUND);
	dw_profile_release(&p);
}

TEST(ambiguous_names_list_few_functions)
{
	struct dw_profile p = DW_PROFILE_INIT;
	struct dw_error err = DW_ERROR_INIT;
	uint32_t m, id = 0, lines = 0;
	char name[32];

	m = mk_module(&p, "prog");
	for (int i = 0; i < 21; i++) {
		snprintf(name, sizeof name, "work_%d", i);
		mk_function(&p, m, name, NULL, 0);
	}
	CHECK_INT(dw_match_function(&p, "work", &id, &err), DWELL_ERR_NOT_FOUND);
	CHECK_STR(dw_error_message(&err), "'work' means 21 functions:");
	for (const char *at = err.lines; (at = strchr(at, '\n')); at++)
		lines++;
	CHECK_INT(lines, 9);
	CHECK(strstr(err.lines, "\n  prog!work_7\n  and 13 more"));
	dw_error_clear(&err);
	dw_profile_release(&p);
}

/* A name without parameters means the function with these scopes, not those in others. */
TEST(exact_names_beat_nested_ones)
{
	struct dw_profile p = DW_PROFILE_INIT;
	struct dw_error err = DW_ERROR_INIT;
	uint32_t m, id = 0;

	m = mk_module(&p, "prog");
	mk_function(&p, m, "ns::step(int)", NULL, 0);
	mk_function(&p, m, "void step<int>(int)", NULL, 0);
	mk_function(&p, m, "ns::other::go()", NULL, 0);
	mk_function(&p, m, "gone", NULL, 0);
	CHECK_INT(dw_match_function(&p, "step", &id, NULL), 0);
	CHECK_INT(id, 2);
	CHECK_INT(dw_match_function(&p, "ns::step", &id, NULL), 0);
	CHECK_INT(id, 1);
	CHECK_INT(dw_match_function(&p, "go", &id, NULL), 0);
	CHECK_INT(id, 3);
	CHECK_INT(dw_match_function(&p, "other::go", &id, NULL), 0);
	CHECK_INT(id, 3);
	CHECK_INT(dw_match_function(&p, "setp", &id, &err), DWELL_ERR_NOT_FOUND);
	CHECK_STR(dw_error_message(&err),
		  "no function 'setp' in this session (did you mean ns::step?)");
	dw_error_clear(&err);
	dw_profile_release(&p);
}

/* Files whose functions have no names, where these have a share that matters. */
TEST(code_without_names_is_found)
{
	struct dw_profile p = DW_PROFILE_INIT;
	struct dw_nameless nameless;
	struct dw_totals t = {0};

	make_plain(&p);
	CHECK_INT(dw_totals_compute(&p, NULL, DWELL_TOTALS_FUNCTIONS, &t), 0);
	dw_nameless_find(&p, &t, &nameless);
	CHECK_INT(nameless.n, 0);
	for (size_t i = 0; i < p.functions.rows.n; i++)
		p.functions.rows.v[i].flags |= DWELL_FUNCTION_NO_SYMBOL;
	dw_nameless_find(&p, &t, &nameless);
	CHECK(nameless.n > 0);
	CHECK(nameless.exclusive > 0 && nameless.exclusive <= t.all[t.main]);
	t.all[t.main] = nameless.exclusive * 100;
	dw_nameless_find(&p, &t, &nameless);
	CHECK_INT(nameless.n, 0);
	dw_totals_release(&t);
	dw_profile_release(&p);
}

/* What a function is called alone, is what finds it. */
TEST(words_of_functions_mean_them_alone)
{
	struct dw_profile p = DW_PROFILE_INIT;
	struct dw_buf word = DW_BUF_INIT;
	uint32_t m, id = 0;

	make_plain(&p);
	m = mk_module(&p, "lib.so");
	mk_function(&p, m, "main", NULL, 0);
	mk_function(&p, m, "twin", NULL, 0);
	mk_function(&p, m, "twin", NULL, 0);
	mk_function(&p, m, "main*", NULL, 0);
	for (uint32_t i = 1; i <= dw_functions_count(&p.functions); i++) {
		dw_function_word(&p, i, &word);
		CHECK_INT(dw_match_function(&p, dw_buf_str(&word), &id, NULL), 0);
		CHECK_INT(id, i);
	}
	dw_function_word(&p, 6, &word);
	CHECK_STR(dw_buf_str(&word), "lib.so!main");
	dw_function_word(&p, 9, &word);
	CHECK_STR(dw_buf_str(&word), "main*");
	dw_buf_release(&word);
	dw_profile_release(&p);
}

TEST(ids_out_of_range_count_as_unknown)
{
	struct dw_profile p = DW_PROFILE_INIT;
	struct dw_totals t = {0};
	struct dw_location bad = {.function = 99};
	uint32_t thread = mk_process(&p, 1, "x"), stack;
	uint32_t frame = mk_frame(&p, (struct dw_frame){.module = 77, .svma = 5}, &bad, 1);

	stack = mk_stack(&p, &frame, 1);
	mk_samples(&p, thread, stack, 2);
	mk_samples(&p, 55, 66, 1);
	p.stacks.rows.v[stack].parent = 1234;
	CHECK_INT(dw_totals_compute(&p, &each_process, DWELL_TOTALS_ALL, &t), 0);
	CHECK_INT(t.all[DWELL_MEASURE_SAMPLES], 3);
	CHECK_INT(SUM(t, functions), 3);
	dw_vec_each(row, &t.functions)
		CHECK_INT(row->function, (uint32_t)DWELL_FUNCTION_UNKNOWN);
	dw_totals_release(&t);
	dw_profile_release(&p);
}

TEST_MAIN()
