/* Synthetic profiles; see synthetic.h. */
#include "synthetic.h"

#include "model/measure.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

enum { MODULE_BYTES = 1 << 24, FUNCTION_BYTES = 400, CODE_BYTES = 120 };

uint64_t synthetic_random(uint64_t *state)
{
	return dw_hash_u64(*state += 0x9e3779b97f4a7c15u);
}

static uint32_t below(uint64_t *state, uint32_t n)
{
	return (uint32_t)(synthetic_random(state) % n);
}

/* Small numbers more often than large ones, as hot code is. */
static uint32_t skewed_below(uint64_t *state, uint32_t n)
{
	uint64_t a = below(state, n), b = below(state, n), c = below(state, n);

	return (uint32_t)(a * b / n * c / n);
}

static int add_modules(const struct synthetic *s, struct dw_profile *p)
{
	for (uint32_t i = 1; i <= s->modules; i++) {
		struct dw_module m = {.kind = DWELL_MODULE_FILE, .device = 42, .inode = 1000 + i};
		char path[64];
		uint32_t id;

		snprintf(path, sizeof path, "/usr/lib/libmodule%u.so", i);
		m.build_id_bytes = 20;
		for (int b = 0; b < 20; b++)
			m.build_id[b] = (uint8_t)(i + (uint32_t)b * 7);
		if (dw_strings_adds(&p->strings, path, &m.path) ||
		    dw_strings_adds(&p->strings, path + 9, &m.name) ||
		    dw_modules_add(&p->modules, &m, &id))
			return -ENOMEM;
	}
	return 0;
}

static int add_tasks(const struct synthetic *s, struct dw_profile *p)
{
	uint32_t name, id;

	if (dw_strings_adds(&p->strings, "synthetic", &name))
		return -ENOMEM;
	for (uint32_t i = 1; i <= s->processes; i++) {
		struct dw_process row = {.pid = 4000 + (int32_t)i,
					 .parent = i - 1,
					 .name = name,
					 .begin_ns = i * 1000,
					 .end_ns = DWELL_TIME_NONE,
					 .user_cpu_ns = i * 1000000,
					 .kernel_cpu_ns = DWELL_TIME_NONE};

		if (dw_processes_add(&p->processes, &row, &id) ||
		    dw_process_set_command(p, id, "synthetic",
					   i % 2 ? "synthetic -q" : "synthetic"))
			return -ENOMEM;
	}
	for (uint32_t i = 1; i <= s->threads; i++) {
		struct dw_thread row = {.process = (i - 1) % s->processes + 1,
					.tid = 4000 + (int32_t)i,
					.name = name,
					.begin_ns = i * 1000,
					.end_ns = DWELL_TIME_NONE};

		if (dw_threads_add(&p->threads, &row, &id))
			return -ENOMEM;
	}
	return 0;
}

/* The module and address of frame @i: its function's range, which lies in the function's module. */
static struct dw_frame frame_at(const struct synthetic *s, uint32_t i, uint64_t *random)
{
	uint32_t function = i % s->functions;

	return (struct dw_frame){.module = function % s->modules + 1,
				 .svma = 0x1000 + (uint64_t)function * FUNCTION_BYTES +
					 below(random, FUNCTION_BYTES)};
}

static int add_frames(const struct synthetic *s, struct dw_profile *p, uint64_t *random)
{
	uint32_t id;

	while (dw_frames_count(&p->frames) < s->addresses) {
		uint32_t i = dw_frames_count(&p->frames);

		if (dw_frames_add(&p->frames, frame_at(s, i + below(random, 3), random), &id))
			return -ENOMEM;
	}
	return 0;
}

/*
 * One more stack: leave an earlier one some way up and grow new frames. The frames below a frame
 * are few, as a function calls few others.
 */
static int grow_stack(const struct synthetic *s, struct dw_profile *p, uint64_t *random,
		      uint32_t from, uint32_t *ret)
{
	uint32_t at = from, depth = 0, up;

	for (uint32_t i = from; i; i = p->stacks.rows.v[i].parent)
		depth++;
	up = depth ? 1 + skewed_below(random, depth) : 0;
	for (depth -= up; up; up--)
		at = p->stacks.rows.v[at].parent;
	for (uint32_t want = s->depth / 2 + below(random, s->depth); depth < want; depth++) {
		uint32_t parent_frame = at ? p->stacks.rows.v[at].frame : 0;
		uint64_t call = parent_frame * 31u + skewed_below(random, 24);
		uint32_t frame = (uint32_t)(dw_hash_u64(call) % s->addresses) + 1;

		if (dw_stacks_add(&p->stacks, at, frame, &at))
			return -ENOMEM;
	}
	*ret = at;
	return 0;
}

int synthetic_tables(const struct synthetic *s, struct dw_profile *p, uint32_t **leaves)
{
	uint64_t random = s->seed;
	uint32_t *ids = calloc(s->stacks, sizeof *ids);

	if (!ids || add_modules(s, p) || add_tasks(s, p) || add_frames(s, p, &random))
		goto fail;
	for (uint32_t i = 0; i < s->stacks; i++)
		if (grow_stack(s, p, &random, i ? ids[below(&random, i)] : 0, &ids[i]))
			goto fail;
	if (dw_facts_set_text(&p->facts, "method",
			      s->alloc_groups ? "memory"
			      : s->slices     ? "instrumentation"
					      : "sampling") ||
	    dw_facts_set(&p->facts, "samples_kept", s->samples) ||
	    (s->waits && (dw_facts_set_text(&p->facts, "event", "cpu-clock") ||
			  dw_facts_set(&p->facts, "frequency_hz", s->rate_hz))))
		goto fail;
	*leaves = ids;
	return 0;
fail:
	free(ids);
	return -ENOMEM;
}

int synthetic_samples(const struct synthetic *s, const uint32_t *leaves, uint32_t from, uint32_t to,
		      struct dw_profile *p)
{
	uint64_t period = 1000000000u / s->rate_hz;

	for (uint32_t i = from; i < to; i++) {
		uint64_t random = s->seed * 77 + i;
		uint64_t time = (uint64_t)(i / s->threads) * period + below(&random, 20000);
		uint32_t thread = i % s->threads + 1;
		uint32_t stack =
			i < s->stacks ? leaves[i] : leaves[skewed_below(&random, s->stacks)];

		struct dw_extra wait = {time,	period, period / 2,
					thread, stack,	DWELL_MEASURE_BLOCKED};

		if (dw_samples_add(&p->samples, time, thread, stack) ||
		    (s->waits && i % 4 == 0 && dw_vec_push(&p->extras.rows, wait)))
			return -ENOMEM;
	}
	return 0;
}

static int add_functions(const struct synthetic *s, struct dw_profile *p)
{
	for (uint32_t i = 0; i < s->functions; i++) {
		struct dw_function f = {.module = i % s->modules + 1,
					.line = i + 10,
					.svma = 0x1000 + (uint64_t)i * FUNCTION_BYTES,
					.bytes = FUNCTION_BYTES};
		char name[160];
		uint32_t id;

		snprintf(name, sizeof name,
			 "compiler::pass%u::Transform<compiler::Node%u>::run(compiler::Context&, "
			 "compiler::Node%u const*, unsigned int)",
			 i % 97, i % 301, i);
		if (dw_strings_adds(&p->strings, name, &f.name))
			return -ENOMEM;
		snprintf(name, sizeof name, "_ZN8compiler6pass%u9TransformIN%uE3runE%u", i % 97,
			 i % 301, i);
		if (dw_strings_adds(&p->strings, name, &f.linkage_name))
			return -ENOMEM;
		snprintf(name, sizeof name, "/src/compiler/pass%u.cc", i % 97);
		if (dw_strings_adds(&p->strings, name, &f.file) ||
		    dw_functions_add(&p->functions, &f, &id))
			return -ENOMEM;
	}
	return 0;
}

/* The chain of a frame: its function, and in every fourth one something inlined. */
static int add_chain(const struct synthetic *s, struct dw_profile *p, uint32_t frame)
{
	uint32_t offset = (uint32_t)((p->frames.rows.v[frame].svma - 0x1000) % FUNCTION_BYTES);
	uint32_t function =
		(uint32_t)((p->frames.rows.v[frame].svma - 0x1000) / FUNCTION_BYTES) + 1;
	struct dw_location l = {.function = function,
				.file = p->functions.rows.v[function].file,
				.line = p->functions.rows.v[function].line + offset / 8,
				.column = 5 + offset % 30};

	l.line_end = l.line + 1;
	if (frame % 4 == 0) {
		struct dw_location inlined = l;

		inlined.function = (function + 12) % s->functions + 1;
		if (dw_vec_push(&p->locations.rows, inlined))
			return -ENOMEM;
	}
	return dw_vec_push(&p->locations.rows, l);
}

static int add_locations(const struct synthetic *s, struct dw_profile *p)
{
	uint32_t frames = dw_frames_count(&p->frames);

	if (dw_vec_reserve(&p->locations.first, frames + 2))
		return -ENOMEM;
	for (uint32_t i = 0; i <= frames; i++) {
		p->locations.first.v[p->locations.first.n++] = (uint32_t)p->locations.rows.n;
		if (i && add_chain(s, p, i))
			return -ENOMEM;
	}
	p->locations.first.v[p->locations.first.n++] = (uint32_t)p->locations.rows.n;
	return 0;
}

static int add_codes(const struct synthetic *s, struct dw_profile *p)
{
	for (uint32_t i = 1; i <= s->functions; i++) {
		struct dw_code c = {.function = i,
				    .bytes_n = CODE_BYTES,
				    .svma = p->functions.rows.v[i].svma,
				    .bytes = malloc(CODE_BYTES)};
		uint64_t random = i;

		if (!c.bytes)
			return -ENOMEM;
		for (int b = 0; b < CODE_BYTES; b++)
			c.bytes[b] = (uint8_t)skewed_below(&random, 256);
		if (dw_vec_push(&p->codes.rows, c)) {
			free(c.bytes);
			return -ENOMEM;
		}
	}
	return 0;
}

int synthetic_symbols(const struct synthetic *s, struct dw_profile *p)
{
	if (add_functions(s, p) || add_locations(s, p) ||
	    (!s->functions_without_code && add_codes(s, p)))
		return -ENOMEM;
	for (uint32_t i = 1; i < p->threads.rows.n; i++)
		p->threads.rows.v[i].start = 1;
	return 0;
}
