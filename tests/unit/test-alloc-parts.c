/*
 * Unit test of src/analysis: stacks told by their parts (model/sample.h) have the sums of whole
 * ones.
 *
 * Random stacks of few functions, so that functions, modules, calls and lines come again on them;
 * one profile has all of them whole, one has some by parts.
 */
#include "check.h"
#include "rows.h"

#include "analysis/totals.h"
#include "maker.h"
#include "row-amounts.h"

enum { FUNCTIONS = 5, FRAMES = 2 * FUNCTIONS, DEEPEST = 9, STACKS = 400 };

struct world {
	struct dw_profile p;
	uint32_t thread, types[2];
	uint32_t frames[FRAMES], functions[FRAMES], modules[FRAMES];
	uint32_t parts[DWELL_PART_MAX + 1];
};

static void build(struct world *w)
{
	static const char *const names[] = {"A", "B", "C", "D", "E"};
	struct dw_profile *p = &w->p;
	uint32_t modules[2];

	*w = (struct world){0};
	modules[0] = mk_module(p, "App.dll");
	modules[1] = mk_module(p, "Lib.dll");
	w->thread = mk_process(p, 11, "dotnet");
	for (uint32_t i = 0; i < FRAMES; i++) {
		w->modules[i] = modules[i / 2 % 2];
		w->functions[i] =
			i % 2 ? w->functions[i - 1]
			      : mk_function(p, w->modules[i], names[i / 2], "app.cs", 10 * i + 1);
		w->frames[i] = mk_plain_frame(p, w->functions[i], i % 2 + 1, 10 * i + 5);
	}
	w->types[0] = mk_type(p, "Node", modules[0], 1);
	w->types[1] = mk_type(p, "string", modules[1], 1);
	mk_slice(p, 1000);
}

/* What the frame at @at is the first of, among those up to it. */
static unsigned part_of(const struct world *w, const uint32_t *stack, size_t at)
{
	unsigned part = DWELL_PART_FUNCTION | DWELL_PART_MODULE | DWELL_PART_CALL | DWELL_PART_LINE;

	for (size_t i = 0; i < at; i++) {
		bool is_function = w->functions[stack[i]] == w->functions[stack[at]];

		if (is_function)
			part &= ~(unsigned)DWELL_PART_FUNCTION;
		if (w->modules[stack[i]] == w->modules[stack[at]])
			part &= ~(unsigned)DWELL_PART_MODULE;
		if (stack[i] == stack[at])
			part &= ~(unsigned)DWELL_PART_LINE;
		if (is_function && i && w->functions[stack[i - 1]] == w->functions[stack[at - 1]])
			part &= ~(unsigned)DWELL_PART_CALL;
	}
	return part;
}

/* The frame that begins parts of kind @part. */
static uint32_t part_frame(struct world *w, unsigned part)
{
	if (!w->parts[part])
		w->parts[part] = mk_frame(
			&w->p, (struct dw_frame){.kind = DWELL_FRAME_PART, .svma = part}, NULL, 0);
	return w->parts[part];
}

static void add_whole(struct world *w, const uint32_t *stack, size_t n, uint32_t type,
		      struct dw_alloc_values values)
{
	uint32_t frames[DEEPEST];

	for (size_t i = 0; i < n; i++)
		frames[i] = w->frames[stack[i]];
	mk_alloc(&w->p, 0, (struct dw_alloc_group){w->thread, mk_stack(&w->p, frames, n), type},
		 values);
}

static void add_parts(struct world *w, const uint32_t *stack, size_t n, uint32_t type,
		      struct dw_alloc_values values)
{
	for (size_t i = 0; i < n; i++) {
		unsigned part = part_of(w, stack, i) | (i + 1 == n ? DWELL_PART_LEAF : 0);
		uint32_t frames[3] = {part_frame(w, part)}, id, depth = 1;

		if (i)
			frames[depth++] = w->frames[stack[i - 1]];
		frames[depth++] = w->frames[stack[i]];
		id = mk_stack(&w->p, frames, depth);
		if (part)
			mk_alloc(&w->p, 0, (struct dw_alloc_group){w->thread, id, type}, values);
	}
}

/* The same stacks for both; @parts has those by parts whose number says so. */
static void add_stacks(struct world *whole, struct world *parts, uint32_t state)
{
	for (uint32_t k = 0; k < STACKS; k++) {
		uint32_t stack[DEEPEST], n = k % DEEPEST + 1, type = k % 2;
		struct dw_alloc_values values = {.allocated = {k + 1, (k + 1) * 24}};

		for (uint32_t i = 0; i < n; i++) {
			state = state * 1664525 + 1013904223;
			stack[i] = (state >> 16) % FRAMES;
		}
		add_whole(whole, stack, n, whole->types[type], values);
		(k % 3 ? add_parts : add_whole)(parts, stack, n, parts->types[type], values);
	}
}

static bool is_same(const struct dw_totals *a, uint32_t at, const struct dw_totals *b, uint32_t bt)
{
	struct dw_alloc_total x = row_allocs(&a->amounts, at), y = row_allocs(&b->amounts, bt);

	return !memcmp(&x, &y, sizeof x);
}

/* Whether each row of @list in @a has its like in @b, by the fields of @is_like. */
#define AGREE(a, b, list, is_like)                                                            \
	({                                                                                    \
		size_t found_ = 0;                                                            \
		dw_vec_each(x, &(a)->list)                                                    \
			dw_vec_each(y, &(b)->list)                                            \
				found_ += (is_like) && is_same(a, x->amounts, b, y->amounts); \
		found_ == (a)->list.n && (b)->list.n == (a)->list.n;                          \
	})

static void compare(const struct dw_totals *a, const struct dw_totals *b, bool *check_failed)
{
	CHECK_INT(b->all[DWELL_MEASURE_BYTES], a->all[DWELL_MEASURE_BYTES]);
	CHECK_INT(b->all[DWELL_MEASURE_OBJECTS], a->all[DWELL_MEASURE_OBJECTS]);
	CHECK_INT(a->functions.n, FUNCTIONS);
	CHECK(AGREE(a, b, functions, x->function == y->function));
	CHECK(AGREE(a, b, modules, x->module == y->module));
	CHECK(AGREE(a, b, edges, x->caller == y->caller && x->callee == y->callee));
	CHECK(AGREE(a, b, lines, x->line == y->line));
	CHECK(AGREE(a, b, instructions, x->frame == y->frame));
	CHECK(AGREE(a, b, types, x->type == y->type));
	CHECK(AGREE(a, b, threads, x->thread == y->thread));
}

TEST(parts_have_the_sums_of_stacks)
{
	for (uint32_t state = 1; state <= 5; state++) {
		struct world whole, parts;
		struct dw_totals a = {0}, b = {0};
		uint64_t cut = 0;

		build(&whole);
		build(&parts);
		add_stacks(&whole, &parts, state);
		CHECK_INT(dw_totals_compute(&whole.p, NULL, DWELL_TOTALS_ALL, &a), 0);
		CHECK_INT(dw_totals_compute(&parts.p, NULL, DWELL_TOTALS_ALL, &b), 0);
		compare(&a, &b, check_failed);
		for (uint32_t k = 0; k < STACKS; k++)
			cut += k % 3 ? k + 1 : 0;
		CHECK_INT(b.stacks_cut, cut);
		dw_vec_each(n, &b.nodes)
			if (n->function == (uint32_t)DWELL_FUNCTION_CUT && n->level == 1)
				CHECK_INT(rows_node_values(&b, (size_t)(n - b.nodes.v))->inclusive,
					  24 * cut);
		dw_totals_release(&a);
		dw_totals_release(&b);
		dw_profile_release(&whole.p);
		dw_profile_release(&parts.p);
	}
}

TEST(what_parts_are)
{
	struct world w;
	uint32_t part, own, stack;

	build(&w);
	part = part_frame(&w, DWELL_PART_CALL | DWELL_PART_LEAF);
	own = mk_stack(&w.p, (uint32_t[]){part, w.frames[0], w.frames[1]}, 3);
	CHECK_INT(dw_stacks_part(&w.p.stacks, &w.p.frames, own), 20);
	own = mk_stack(&w.p, (uint32_t[]){part, w.frames[1]}, 2);
	CHECK_INT(dw_stacks_part(&w.p.stacks, &w.p.frames, own), 20);
	stack = mk_stack(&w.p, (uint32_t[]){w.frames[0], w.frames[1]}, 2);
	CHECK_INT(dw_stacks_part(&w.p.stacks, &w.p.frames, stack), 0);
	/* No agent makes such: too deep, or not outermost. */
	stack = mk_stack(&w.p, (uint32_t[]){part, w.frames[0], w.frames[1], w.frames[2]}, 4);
	CHECK_INT(dw_stacks_part(&w.p.stacks, &w.p.frames, stack), 0);
	stack = mk_stack(&w.p, (uint32_t[]){w.frames[0], part}, 2);
	CHECK_INT(dw_stacks_part(&w.p.stacks, &w.p.frames, stack), 0);
	CHECK_INT(dw_stacks_part(&w.p.stacks, &w.p.frames, 0), 0);
	dw_profile_release(&w.p);
}

TEST_MAIN()
