/*
 * Unit tests of src/analysis: totals of allocations, with sums known by hand.
 *
 * main calls make, which calls itself; main calls print, which calls concat of another module, with
 * an inlined function in print. A second process has one stack that is cut and one without frames.
 */
#include "check.h"

#include "analysis/totals.h"
#include "maker.h"
#include "row-amounts.h"
#include "rows.h"

static const struct dw_filter each_process = {.by = DWELL_BY_PROCESS};

struct world {
	struct dw_profile p;
	struct dw_totals t;
	uint32_t app, core;
	uint32_t one, two; /* threads, and processes */
	uint32_t main, make, print, join, concat;
	uint32_t node, text;
};

/* @n objects of @each bytes, of which @young die in generation 0 and @old in generation 2. */
static struct dw_alloc_values lives(uint64_t n, uint64_t each, uint64_t young, uint64_t old)
{
	struct dw_alloc_values v = {.allocated = {n, n * each}};

	v.collected[DWELL_GENERATION_0] = (struct dw_alloc_count){young, young * each};
	v.collected[DWELL_GENERATION_2] = (struct dw_alloc_count){old, old * each};
	return v;
}

static void add_stacks(struct world *w)
{
	struct dw_profile *p = &w->p;
	struct dw_location chain[] = {{w->join, mk_text(p, "join.cs"), 7, 1, 0, 0},
				      {w->print, mk_text(p, "app.cs"), 52, 1, 0, 0}};
	uint32_t f_main = mk_plain_frame(p, w->main, 1, 12);
	uint32_t f_make = mk_plain_frame(p, w->make, 1, 33);
	uint32_t f_print = mk_frame(p, (struct dw_frame){w->app, DWELL_FRAME_CODE, 9}, chain, 2);
	uint32_t f_concat = mk_plain_frame(p, w->concat, 1, 0), cut = mk_cut(p);
	uint32_t deep = mk_stack(p, (uint32_t[]){f_main, f_make, f_make}, 3);
	uint32_t once = mk_stack(p, (uint32_t[]){f_main, f_make}, 2);
	uint32_t text = mk_stack(p, (uint32_t[]){f_main, f_print, f_concat}, 3);
	uint32_t lost = mk_stack(p, (uint32_t[]){cut, f_concat}, 2);
	uint32_t text2 = mk_type(p, "string", w->core, 2);

	mk_alloc(p, 0, (struct dw_alloc_group){w->one, deep, w->node}, lives(10, 40, 4, 0));
	mk_alloc(p, 0, (struct dw_alloc_group){w->one, once, w->node}, lives(2, 40, 0, 0));
	mk_alloc(p, 0, (struct dw_alloc_group){w->one, text, w->text}, lives(5, 100, 5, 0));
	mk_alloc(p, 1, (struct dw_alloc_group){w->one, deep, w->node}, lives(1, 40, 0, 3));
	mk_alloc(p, 1, (struct dw_alloc_group){w->two, lost, text2}, lives(3, 10, 0, 0));
	mk_alloc(p, 1, (struct dw_alloc_group){w->two, 0, text2}, lives(1, 7, 1, 0));
}

static void build(struct world *w)
{
	struct dw_profile *p = &w->p;

	*w = (struct world){0};
	w->app = mk_module(p, "App.dll");
	w->core = mk_module(p, "CoreLib.dll");
	w->one = mk_process(p, 11, "dotnet");
	w->two = mk_process(p, 22, "worker");
	w->main = mk_function(p, w->app, "Main", "app.cs", 10);
	w->make = mk_function(p, w->app, "Make", "app.cs", 30);
	w->print = mk_function(p, w->app, "Print", "app.cs", 50);
	w->join = mk_function(p, w->app, "Join", "join.cs", 5);
	w->concat = mk_function(p, w->core, "Concat", NULL, 0);
	w->node = mk_type(p, "Node", w->app, 1);
	w->text = mk_type(p, "string", w->core, 1);
	mk_slice(p, 1000);
	mk_slice(p, 2000);
	add_stacks(w);
}

static void release(struct world *w)
{
	dw_totals_release(&w->t);
	dw_profile_release(&w->p);
}

/* "objects bytes / own objects bytes, died young, old, alive" */
static const char *say(const struct dw_amounts *amounts, size_t row)
{
	static char text[128];
	const struct dw_alloc_total total = row_allocs(amounts, row), *a = &total;
	struct dw_alloc_count alive = dw_alloc_values_alive(&a->inclusive);

	snprintf(text, sizeof text, "%llu %llu / %llu %llu, %llu %llu %llu",
		 (unsigned long long)a->inclusive.allocated.objects,
		 (unsigned long long)a->inclusive.allocated.bytes,
		 (unsigned long long)a->exclusive.objects, (unsigned long long)a->exclusive.bytes,
		 (unsigned long long)a->inclusive.collected[DWELL_GENERATION_0].objects,
		 (unsigned long long)a->inclusive.collected[DWELL_GENERATION_2].objects,
		 (unsigned long long)alive.objects);
	return text;
}

static const char *function(const struct world *w, uint32_t process, uint32_t id)
{
	dw_vec_each(f, &w->t.functions)
		if (f->lane == process && f->function == id)
			return say(&w->t.amounts, f->amounts);
	return "none";
}

TEST(functions_count_each_stack_once)
{
	struct world w;

	build(&w);
	CHECK_INT(dw_totals_compute(&w.p, &each_process, DWELL_TOTALS_ALL, &w.t), 0);
	CHECK_INT(w.t.all[DWELL_MEASURE_BYTES], 400 + 80 + 500 + 40 + 30 + 7);
	CHECK_INT(w.t.all[DWELL_MEASURE_OBJECTS], 22);
	CHECK_STR(function(&w, 1, w.main), "18 1020 / 0 0, 9 3 6");
	CHECK_STR(function(&w, 1, w.make), "13 520 / 13 520, 4 3 6");
	CHECK_STR(function(&w, 1, w.print), "5 500 / 0 0, 5 0 0");
	CHECK_STR(function(&w, 1, w.join), "5 500 / 0 0, 5 0 0");
	CHECK_STR(function(&w, 1, w.concat), "5 500 / 5 500, 5 0 0");
	CHECK_STR(function(&w, 2, w.concat), "3 30 / 3 30, 0 0 3");
	CHECK_STR(function(&w, 2, (uint32_t)DWELL_FUNCTION_UNKNOWN), "1 7 / 1 7, 1 0 0");
	CHECK_INT(w.t.functions.n, 7);
	CHECK_INT(w.t.stacks_cut, 3);
	CHECK_INT(w.t.processes_seen, 2);
	release(&w);
}

/* Nobody records such a session, but somebody can make one. */
TEST(samples_and_waits_beside_objects_count_for_nothing)
{
	struct world w;
	size_t functions_n;

	build(&w);
	CHECK_INT(dw_totals_compute(&w.p, &each_process, DWELL_TOTALS_ALL, &w.t), 0);
	functions_n = w.t.functions.n;
	CHECK_INT(dw_samples_add(&w.p.samples, 5, w.one, 1), 0);
	CHECK_INT(dw_vec_push(&w.p.extras.rows,
			      (struct dw_extra){1, 2, 2, w.one, 1, DWELL_MEASURE_BLOCKED}),
		  0);
	CHECK_INT(dw_totals_compute(&w.p, &each_process, DWELL_TOTALS_ALL, &w.t), 0);
	CHECK_INT(w.t.functions.n, functions_n);
	CHECK_STR(function(&w, 1, w.main), "18 1020 / 0 0, 9 3 6");
	CHECK_INT(w.t.all[DWELL_MEASURE_OBJECTS], 22);
	CHECK_INT(w.t.all[DWELL_MEASURE_SAMPLES], 0);
	release(&w);
}

static const char *module(const struct world *w, uint32_t process, uint32_t id)
{
	dw_vec_each(m, &w->t.modules)
		if (m->lane == process && m->module == id)
			return say(&w->t.amounts, m->amounts);
	return "none";
}

static const char *edge(const struct world *w, uint32_t caller, uint32_t callee)
{
	dw_vec_each(e, &w->t.edges)
		if (e->lane == 1 && e->caller == caller && e->callee == callee)
			return say(&w->t.amounts, e->amounts);
	return "none";
}

static const char *line(const struct world *w, uint32_t of, uint32_t number)
{
	dw_vec_each(l, &w->t.lines)
		if (l->lane == 1 && l->function == of && l->line == number)
			return say(&w->t.amounts, l->amounts);
	return "none";
}

TEST(modules_edges_lines_and_tasks)
{
	struct world w;

	build(&w);
	CHECK_INT(dw_totals_compute(&w.p, &each_process, DWELL_TOTALS_ALL, &w.t), 0);
	CHECK_STR(module(&w, 1, w.app), "18 1020 / 13 520, 9 3 6");
	CHECK_STR(module(&w, 1, w.core), "5 500 / 5 500, 5 0 0");
	CHECK_STR(module(&w, 2, 0), "1 7 / 1 7, 1 0 0");
	CHECK_STR(edge(&w, 0, w.main), "18 1020 / 0 0, 9 3 6");
	CHECK_STR(edge(&w, w.main, w.make), "13 520 / 2 80, 4 3 6");
	CHECK_STR(edge(&w, w.make, w.make), "11 440 / 11 440, 4 3 4");
	CHECK_STR(edge(&w, w.print, w.join), "5 500 / 0 0, 5 0 0");
	CHECK_STR(edge(&w, w.join, w.concat), "5 500 / 5 500, 5 0 0");
	CHECK_STR(line(&w, w.make, 33), "13 520 / 13 520, 4 3 6");
	CHECK_STR(line(&w, w.join, 7), "5 500 / 0 0, 5 0 0");
	CHECK_INT(w.t.processes.n, 2);
	CHECK_STR(say(&w.t.amounts, w.t.processes.v[0].amounts), "18 1020 / 18 1020, 9 3 6");
	CHECK_STR(say(&w.t.amounts, w.t.threads.v[1].amounts), "4 37 / 4 37, 1 0 3");
	CHECK_INT(w.t.types.n, 3);
	CHECK_INT(w.t.types.v[0].type, w.node);
	CHECK_STR(say(&w.t.amounts, w.t.types.v[0].amounts), "13 520 / 13 520, 4 3 6");
	CHECK_STR(say(&w.t.amounts, w.t.types.v[2].amounts), "4 37 / 4 37, 1 0 3");
	release(&w);
}

/* The child of node @parent that is @id; UINT32_MAX = none. */
static uint32_t child(const struct world *w, uint32_t parent, uint32_t id)
{
	for (uint32_t i = 0; i < w->t.nodes.n; i++)
		if (w->t.nodes.v[i].parent == parent && w->t.nodes.v[i].function == id)
			return i;
	return UINT32_MAX;
}

static const char *node(const struct world *w, uint32_t i)
{
	return i < w->t.nodes.n ? say(&w->t.node_amounts, i) : "none";
}

TEST(call_tree)
{
	struct world w;
	uint32_t main_, make;

	build(&w);
	CHECK_INT(dw_totals_compute(&w.p, &each_process, DWELL_TOTALS_NODES, &w.t), 0);
	CHECK_INT(w.t.nodes.n, w.t.node_amounts.n);
	CHECK_STR(node(&w, 0), "18 1020 / 0 0, 9 3 6");
	main_ = child(&w, 0, w.main);
	make = child(&w, main_, w.make);
	CHECK_STR(node(&w, make), "13 520 / 2 80, 4 3 6");
	CHECK_STR(node(&w, child(&w, make, w.make)), "11 440 / 11 440, 4 3 4");
	CHECK_INT(rows_node_values(&w.t, make)->inclusive, 520);
	CHECK_INT(rows_node_values(&w.t, make)->exclusive, 80);
	release(&w);
}

TEST(call_tree_of_unknown_and_pruned)
{
	struct dw_filter filter = {.by = DWELL_BY_PROCESS, .focus = {.min_pct = 45}};
	struct world w;
	uint32_t two = 0;

	build(&w);
	CHECK_INT(dw_totals_compute(&w.p, &each_process, DWELL_TOTALS_NODES, &w.t), 0);
	while (w.t.nodes.v[two].lane != 2)
		two++;
	CHECK_STR(node(&w, two), "4 37 / 0 0, 1 0 3");
	CHECK_STR(node(&w, child(&w, two, (uint32_t)DWELL_FUNCTION_UNKNOWN)), "1 7 / 1 7, 1 0 0");
	CHECK_STR(node(&w, child(&w, two, (uint32_t)DWELL_FUNCTION_CUT)), "3 30 / 0 0, 0 0 3");
	CHECK_INT(dw_totals_compute(&w.p, &filter, DWELL_TOTALS_NODES, &w.t), 0);
	CHECK_INT(w.t.nodes.n, w.t.node_amounts.n);
	CHECK_STR(node(&w, child(&w, child(&w, 0, w.main), w.make)), "13 520 / 2 80, 4 3 6");
	CHECK_INT(child(&w, child(&w, child(&w, 0, w.main), w.make), w.make), UINT32_MAX);
	filter.focus = (struct dw_focus){.root = w.make};
	CHECK_INT(dw_totals_compute(&w.p, &filter, DWELL_TOTALS_NODES, &w.t), 0);
	CHECK_STR(node(&w, 0), "13 520 / 2 80, 4 3 6");
	CHECK_INT(w.t.nodes.n, 2);
	release(&w);
}

TEST(ways_to_allocate)
{
	struct dw_filter filter = {.by = DWELL_BY_PROCESS, .focus = {.min_pct = 40}};
	struct world w;
	uint32_t type = 0, make;

	build(&w);
	CHECK_INT(dw_totals_compute(&w.p, &each_process, DWELL_TOTALS_PATHS, &w.t), 0);
	CHECK(w.t.nodes_by_type);
	CHECK_INT(w.t.nodes.v[0].function, w.node);
	CHECK_STR(node(&w, 0), "13 520 / 13 520, 4 3 6");
	make = child(&w, 0, w.make);
	CHECK_STR(node(&w, make), "13 520 / 13 520, 4 3 6");
	CHECK_STR(node(&w, child(&w, make, w.main)), "2 80 / 0 0, 0 0 2");
	make = child(&w, make, w.make);
	CHECK_STR(node(&w, make), "11 440 / 0 0, 4 3 4");
	CHECK_STR(node(&w, child(&w, make, w.main)), "11 440 / 0 0, 4 3 4");
	while (w.t.nodes.v[type].level || w.t.nodes.v[type].function != w.text)
		type++;
	type = child(&w, child(&w, type, w.concat), w.join);
	CHECK_STR(node(&w, child(&w, child(&w, type, w.print), w.main)), "5 500 / 0 0, 5 0 0");
	CHECK_INT(dw_totals_compute(&w.p, &filter, DWELL_TOTALS_PATHS, &w.t), 0);
	CHECK_INT(child(&w, child(&w, 0, w.make), w.main), UINT32_MAX);
	CHECK_INT(w.t.nodes.n, w.t.node_amounts.n);
	release(&w);
}

TEST(first_rows_of_a_tree_need_no_others)
{
	struct dw_totals all = {0};
	struct world w;

	build(&w);
	for (int i = 0; i < 2; i++) {
		unsigned parts = i ? DWELL_TOTALS_PATHS : DWELL_TOTALS_NODES;

		CHECK_INT(dw_totals_compute(&w.p, &each_process, parts, &all), 0);
		for (size_t rows = 1; rows <= all.nodes.n; rows++) {
			struct dw_filter filter = {.by = DWELL_BY_PROCESS, .focus.rows = rows};

			CHECK_INT(dw_totals_compute(&w.p, &filter, parts, &w.t), 0);
			CHECK(rows_agree(&all, &w.t, rows));
			CHECK(rows > 1 || w.t.nodes.n < all.nodes.n);
			CHECK_INT(w.t.nodes.n, w.t.node_amounts.n);
		}
	}
	dw_totals_release(&all);
	release(&w);
}

TEST(filters)
{
	uint32_t two = 2;
	uint8_t modules[] = {0, 0, 1}, types[] = {1, 0, 0};
	struct dw_filter by_process = {.by = DWELL_BY_PROCESS, .processes = &two, .processes_n = 1};
	struct dw_filter by_thread = {.by = DWELL_BY_PROCESS, .threads = &two, .threads_n = 1};
	struct dw_filter by_module = {.by = DWELL_BY_PROCESS, .modules = modules, .modules_n = 3};
	struct dw_filter by_type = {.by = DWELL_BY_PROCESS, .types = types, .types_n = 3};
	struct dw_filter late = {.by = DWELL_BY_PROCESS, .from_ns = 1000};
	struct world w;

	build(&w);
	CHECK_INT(dw_totals_compute(&w.p, &by_process, DWELL_TOTALS_ALL, &w.t), 0);
	CHECK_INT(w.t.all[DWELL_MEASURE_BYTES], 37);
	CHECK_INT(dw_totals_compute(&w.p, &by_thread, DWELL_TOTALS_ALL, &w.t), 0);
	CHECK_INT(w.t.all[DWELL_MEASURE_BYTES], 37);
	CHECK_INT(dw_totals_compute(&w.p, &by_module, DWELL_TOTALS_ALL, &w.t), 0);
	CHECK_INT(w.t.all[DWELL_MEASURE_BYTES], 530);
	CHECK_STR(function(&w, 1, w.main), "5 500 / 0 0, 5 0 0");
	CHECK_INT(dw_totals_compute(&w.p, &by_type, DWELL_TOTALS_ALL, &w.t), 0);
	CHECK_INT(w.t.all[DWELL_MEASURE_BYTES], 520);
	CHECK_STR(function(&w, 1, w.concat), "none");
	CHECK_INT(dw_totals_compute(&w.p, &late, DWELL_TOTALS_ALL, &w.t), 0);
	CHECK_INT(w.t.from_ns, 1000);
	CHECK_INT(w.t.to_ns, 2000);
	CHECK_INT(w.t.all[DWELL_MEASURE_BYTES], 77);
	CHECK_INT(w.t.all[DWELL_MEASURE_OBJECTS_GEN2], 3);
	release(&w);
}

TEST(collections_are_chosen_by_process_and_time)
{
	uint32_t two = 2;
	struct dw_filter by_process = {.by = DWELL_BY_PROCESS, .processes = &two, .processes_n = 1};
	struct dw_filter early = {.by = DWELL_BY_PROCESS, .to_ns = 500};
	struct world w;

	build(&w);
	for (uint32_t i = 1; i <= 3; i++)
		dw_vec_push(&w.p.allocations.gcs, (struct dw_gc){.process = i == 3 ? 2 : 1,
								 .number = i,
								 .start_ns = i * 250});
	CHECK_INT(dw_totals_compute(&w.p, &each_process, DWELL_TOTALS_GCS, &w.t), 0);
	CHECK_INT(w.t.gcs.n, 3);
	CHECK_INT(dw_totals_compute(&w.p, &by_process, DWELL_TOTALS_GCS, &w.t), 0);
	CHECK_INT(w.t.gcs.n, 1);
	CHECK_INT(w.t.gcs.v[0], 2);
	CHECK_INT(dw_totals_compute(&w.p, &early, DWELL_TOTALS_GCS, &w.t), 0);
	CHECK_INT(w.t.gcs.n, 1);
	release(&w);
}

TEST(nothing_allocated)
{
	struct dw_profile p = DW_PROFILE_INIT;
	struct dw_totals t = {0};

	mk_process(&p, 1, "idle");
	CHECK_INT(dw_facts_set_text(&p.facts, "method", "memory"), 0);
	CHECK_INT(dw_totals_compute(&p, &each_process, DWELL_TOTALS_ALL | DWELL_TOTALS_PATHS, &t),
		  0);
	CHECK_INT(t.all[DWELL_MEASURE_BYTES], 0);
	CHECK_INT(t.processes.n, 1);
	CHECK_INT(t.functions.n, 0);
	dw_totals_release(&t);
	dw_profile_release(&p);
}

TEST_MAIN()
