/*
 * Regions of .NET agents: what honest tables mean, and that lies in them reach nothing.
 */
#include "check.h"

#include "base/buf.h"
#include "code/clr/method-name.h"
#include "collect/clr/allocations.h"
#include "collect/clr/tables.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* What is wrong with the name of @from, which should be @want. NULL = nothing. */
static const char *wrong_name(const char *from, const char *want)
{
	struct dw_buf b = DW_BUF_INIT;
	bool is_right;

	dw_method_name_put(&b, from, strlen(from));
	is_right = !strcmp(dw_buf_str(&b), want);
	if (!is_right)
		printf("# %s is called %s\n", from, dw_buf_str(&b));
	dw_buf_release(&b);
	return is_right ? NULL : from;
}

TEST(names_of_methods)
{
	CHECK(!wrong_name("Ns.Type+Nested::Method", "Ns.Type.Nested.Method"));
	CHECK(!wrong_name("Ns.Type::.ctor", "Ns.Type..ctor"));
	CHECK(!wrong_name("Type+<>c::<Main>b__0_1", "Type.Main.lambda_0_1"));
	CHECK(!wrong_name("Type+<>c__DisplayClass3_0::<Main>b__0", "Type.Main.lambda_0"));
	CHECK(!wrong_name("Type::<Main>g__Local|0_0", "Type.Main.Local"));
	CHECK(!wrong_name("Type+<WaitAsync>d__5::MoveNext", "Type.WaitAsync.MoveNext"));
	CHECK(!wrong_name("Program::<Main>$", "Program.Main"));
	CHECK(!wrong_name("Type::System.IFoo<T>.Bar", "Type.System.IFoo<T>.Bar"));
	CHECK(!wrong_name("Type+<>c+<<Main>b__0_0>d::MoveNext", "Type.Main.lambda_0_0.MoveNext"));
	CHECK(!wrong_name("Type+<<Main>g__Local|3_0>d::MoveNext", "Type.Main.Local.MoveNext"));
	CHECK(!wrong_name("Type+<<<Main>g__Local|3_0>b__1>d::MoveNext",
			  "Type.Main.Local.lambda_1.MoveNext"));
	CHECK(!wrong_name("Type::<<Main>$>g__Local|0_0", "Type.Main.Local"));
	CHECK(!wrong_name("Box<T>+<Each>d__1<U>::MoveNext", "Box<T>.Each.MoveNext"));
	CHECK(!wrong_name("Box<T>+Inner<U>::Go<V>(T,U,V)", "Box<T>.Inner<U>.Go<V>(T,U,V)"));
	CHECK(!wrong_name("Box<T>+<>c__DisplayClass0_0<U>::<Make>b__0", "Box<T>.Make.lambda_0"));
	CHECK(!wrong_name("Type::<Main>g__Local|0_0<T>", "Type.Main.Local"));
	CHECK(!wrong_name("<Program>F0123ABCD__Hidden::Do", "Hidden.Do"));
	CHECK(!wrong_name("IL_STUB_PInvoke", "IL_STUB_PInvoke"));
	CHECK(!wrong_name("::<>", "<>"));
	CHECK(!wrong_name("::", ""));
	CHECK(!wrong_name("+::<", "<"));
}

static const char *wrong_mapped(const char *from, const char *want)
{
	struct dw_buf b = DW_BUF_INIT;
	bool is_right;

	dw_method_name_put_mapped(&b, from, strlen(from));
	is_right = !strcmp(dw_buf_str(&b), want);
	if (!is_right)
		printf("# %s is called %s\n", from, dw_buf_str(&b));
	dw_buf_release(&b);
	return is_right ? NULL : from;
}

TEST(names_of_methods_in_maps)
{
	CHECK(!wrong_mapped("Shares::Half", "Shares.Half"));
	CHECK(!wrong_mapped("Shares/Box`1[System.__Canon]::Fill", "Shares.Box<T>.Fill"));
	CHECK(!wrong_mapped(
		"A.Box`2/Inner`1[System.__Canon,int,A.B`1[int]]::Go[int,A.B`2[int,int]]",
		"A.Box<T1,T2>.Inner<T>.Go<T1,T2>"));
	CHECK(!wrong_mapped("P/<>c/<<Main>b__0_0>d::MoveNext", "P.Main.lambda_0_0.MoveNext"));
	CHECK(!wrong_mapped("System.Int32[]::Get", "System.Int32.Get"));
	CHECK(!wrong_mapped("A`99999999999999999999[::B",
			    "A<T1,T2,T3,T4,T5,T6,T7,T8,T9,T10,T11,T12,"
			    "T13,T14,T15,T16,T17,T18,T19,T20,T21,T22,T23,T24,T25,T26,T27,T28,T29,"
			    "T30,T31,T32>"));
}

enum { CHUNK = 4096, KINDS = DWELL_CLR_TABLES + 1 };

/* A region whose every table is one chunk. */
struct image {
	struct dw_region_header header;
	unsigned char padding[CHUNK - sizeof(struct dw_region_header) % CHUNK];
	union {
		struct dw_clr_head head;
		unsigned char bytes[CHUNK];
	} chunks[KINDS];
};

static void *table(struct image *i, enum dw_clr_table t)
{
	return i->chunks[1 + t].bytes;
}

static struct dw_clr_text put_text(struct image *i, const char *text)
{
	uint32_t *n = &i->chunks[0].head.rows[DWELL_CLR_TEXTS];
	struct dw_clr_text t = {*n, (uint32_t)strlen(text)};

	memcpy((char *)table(i, DWELL_CLR_TEXTS) + *n, text, t.bytes);
	*n += t.bytes;
	return t;
}

/* One thread that allocates 7 objects of a type in a method called by another. */
static struct image *make_image(void)
{
	struct image *i = calloc(1, sizeof *i);
	struct dw_clr_head *head = &i->chunks[0].head;
	struct dw_clr_node *nodes = table(i, DWELL_CLR_NODES);

	memcpy(i->header.magic, DWELL_REGION_MAGIC, sizeof i->header.magic);
	i->header.version = DWELL_REGION_VERSION;
	i->header.header_bytes = sizeof i->header;
	i->header.chunk_n = KINDS;
	for (uint32_t k = 0; k < KINDS; k++)
		i->header.chunks[k] = (struct dw_region_chunk){
			DWELL_REGION_CHUNK_CLR + k, 0, offsetof(struct image, chunks[k]), CHUNK};
	for (int t = 0; t < DWELL_CLR_TABLES; t++)
		head->rows[t] = 3;
	head->rows[DWELL_CLR_NODES] = 5;
	((struct dw_clr_module *)table(i, DWELL_CLR_MODULES))[1].path = put_text(i, "/a/app.dll");
	((struct dw_clr_type *)table(i, DWELL_CLR_TYPES))[1] =
		(struct dw_clr_type){put_text(i, "Node"), 1, 0};
	for (uint32_t f = 1; f <= 2; f++) {
		((struct dw_clr_function *)table(i, DWELL_CLR_FUNCTIONS))[f] =
			(struct dw_clr_function){put_text(i, f == 1 ? "T::Main" : "T::Make"), 1,
						 0x06000000 + f};
		((struct dw_clr_frame *)table(i, DWELL_CLR_FRAMES))[f] =
			(struct dw_clr_frame){f, 16 * f};
	}
	nodes[1] = (struct dw_clr_node){.frame = DWELL_CLR_FRAME_ROOT};
	nodes[2] = (struct dw_clr_node){.frame = 1, .parent = 1};
	nodes[3] = (struct dw_clr_node){.frame = 2, .parent = 2};
	nodes[4] = (struct dw_clr_node){.frame = DWELL_CLR_FRAME_NATIVE, .parent = 3};
	((struct dw_clr_thread *)table(i, DWELL_CLR_THREADS))[1] =
		(struct dw_clr_thread){.tid = 77, .allocated = {7, 168}};
	((struct dw_clr_group *)table(i, DWELL_CLR_GROUPS))[1] =
		(struct dw_clr_group){.type = 1,
				      .node = 3,
				      .thread = 1,
				      .old = 1,
				      .allocated = {7, 168},
				      .collected = {2, 48}};
	((struct dw_clr_old *)table(i, DWELL_CLR_OLDS))[1] =
		(struct dw_clr_old){.group = 1, .collected = {{1, 24}, {0, 0}, {3, 72}}};
	((struct dw_clr_gc *)table(i, DWELL_CLR_GCS))[1] = (struct dw_clr_gc){.number = 1,
									      .generation = 9,
									      .is_ended = 1,
									      .start_ns = 50,
									      .thread = 1,
									      .node = 4};
	return i;
}

static int open_image(const struct image *i)
{
	char name[] = "/tmp/dwell-test-XXXXXX";
	int fd = mkstemp(name);

	unlink(name);
	return write(fd, i, sizeof *i) == (ssize_t)sizeof *i ? fd : -1;
}

/* Read @i into @p as slice @slice. */
static int read_image(struct dw_region_allocations *r, const struct image *i, uint32_t slice)
{
	struct dw_region_head head;
	struct dw_allocations_reading now = {&head, 20, slice};
	int fd = open_image(i), rc = dw_region_read_head(fd, &head);

	if (!rc)
		rc = dw_region_allocations_read(r, fd, &now);
	close(fd);
	return rc;
}

static struct dw_region_allocations *make_reader(struct dw_profile *p)
{
	struct dw_process process = {.pid = 5, .end_ns = DWELL_TIME_NONE};
	struct dw_region_allocations *r = NULL;
	uint32_t id;

	if (!dw_processes_add(&p->processes, &process, &id))
		(void)dw_region_allocations_new(p, id, 1 << 20, &r);
	return r;
}

/* Whether @stack is that of the image's group with native code below. */
static bool is_native(const struct dw_profile *p, uint32_t stack)
{
	const struct dw_stack *s = dw_stacks_get(&p->stacks, stack);
	const struct dw_frame *f = s ? dw_frames_get(&p->frames, s->frame) : NULL;
	const struct dw_module *m = f ? dw_modules_get(&p->modules, f->module) : NULL;

	return m && !strcmp(dw_strings_get(&p->strings, m->name), "[native]") &&
	       s->parent == p->allocations.groups.v[0].stack;
}

/* A name ends with its first NUL, or where it is longer than any. */
TEST(strange_texts)
{
	struct dw_clr_tables t = {0};
	unsigned char *bytes = calloc(1, 100000);
	size_t n;

	memset(bytes, 'x', 100000);
	memcpy(bytes, "?ab", 4);
	bytes[50] = 0;
	t.all[DWELL_CLR_TEXTS].bytes.v = bytes;
	t.all[DWELL_CLR_TEXTS].bytes.n = t.all[DWELL_CLR_TEXTS].n = 100000;
	CHECK(dw_clr_tables_text(&t, (struct dw_clr_text){1, 20}, &n) && n == 2);
	CHECK(!dw_clr_tables_text(&t, (struct dw_clr_text){3, 20}, &n));
	CHECK(dw_clr_tables_text(&t, (struct dw_clr_text){51, 90000}, &n) && n == 64 << 10);
	CHECK(dw_clr_tables_text(&t, (struct dw_clr_text){99999, 1}, &n) && n == 1);
	CHECK(!dw_clr_tables_text(&t, (struct dw_clr_text){99999, 2}, &n));
	dw_clr_tables_release(&t);
}

/* Tables that promise more than the agent was given are not read. */
TEST(tables_beyond_the_budget)
{
	struct dw_profile p = DW_PROFILE_INIT;
	struct dw_region_allocations *r = make_reader(&p);
	struct image *i = make_image();

	for (int t = 0; t < DWELL_CLR_TABLES; t++)
		i->header.chunks[t + 1].bytes = (1 << 20) / DWELL_CLR_TABLES + 1;
	CHECK_INT(read_image(r, i, 1), DWELL_ERR_LIMIT);
	free(i);
	dw_region_allocations_free(r);
	dw_profile_release(&p);
}

TEST(honest_tables)
{
	struct dw_profile p = DW_PROFILE_INIT;
	struct dw_region_allocations *r = make_reader(&p);
	struct image *i = make_image();
	struct dw_clr_group *groups = table(i, DWELL_CLR_GROUPS);
	const struct dw_alloc_delta *d;
	const struct dw_stack *stack;

	CHECK_INT(read_image(r, i, 0), 0);
	CHECK_INT(p.allocations.deltas.n, 1);
	d = &p.allocations.deltas.v[0];
	CHECK_INT(d->values.allocated.objects, 7);
	CHECK_INT(d->values.collected[DWELL_GENERATION_0].objects, 2);
	CHECK_INT(d->values.collected[DWELL_GENERATION_1].bytes, 24);
	CHECK_INT(d->values.collected[DWELL_GENERATION_LARGE].objects, 3);
	CHECK_INT(p.allocations.gcs.n, 1);
	CHECK_INT(p.allocations.gcs.v[0].generation, 2);
	CHECK_INT(p.allocations.gcs.v[0].start_ns, 30);
	CHECK(is_native(&p, p.allocations.gcs.v[0].stack));
	CHECK_INT(dw_threads_get(&p.threads, p.allocations.gcs.v[0].thread)->tid, 77);
	CHECK_INT(dw_threads_get(&p.threads, p.allocations.groups.v[0].thread)->tid, 77);
	stack = dw_stacks_get(&p.stacks, p.allocations.groups.v[0].stack);
	CHECK_INT(dw_frames_get(&p.frames, stack->frame)->svma, (2ull << 32) + 32);
	stack = dw_stacks_get(&p.stacks, stack->parent);
	CHECK_INT(dw_frames_get(&p.frames, stack->frame)->svma, (1ull << 32) + 16);
	CHECK_INT(stack->parent, 0);
	groups[1].allocated.objects += 5;
	CHECK_INT(read_image(r, i, 1), 0);
	CHECK_INT(p.allocations.deltas.n, 2);
	CHECK_INT(p.allocations.deltas.v[1].values.allocated.objects, 5);
	CHECK_INT(p.allocations.deltas.v[1].values.collected[DWELL_GENERATION_0].objects, 0);
	CHECK_INT(p.allocations.gcs.n, 1);
	CHECK_INT(read_image(r, i, 2), 0);
	CHECK_INT(p.allocations.deltas.n, 2);
	dw_region_allocations_free(r);
	dw_profile_release(&p);
	free(i);
}

TEST(native_functions_have_files)
{
	struct dw_profile p = DW_PROFILE_INIT;
	struct dw_region_allocations *r = make_reader(&p);
	struct image *i = make_image();
	const struct dw_frame *frame;
	const struct dw_module *m;

	((struct dw_clr_module *)table(i, DWELL_CLR_MODULES))[2] =
		(struct dw_clr_module){.path = put_text(i, "/lib/libx.so"), .is_native = 1};
	((struct dw_clr_native *)table(i, DWELL_CLR_NATIVES))[1] =
		(struct dw_clr_native){.module = 2, .svma = 0x1235};
	((struct dw_clr_frame *)table(i, DWELL_CLR_FRAMES))[2] =
		(struct dw_clr_frame){1, DWELL_CLR_IL_NATIVE};
	CHECK_INT(read_image(r, i, 0), 0);
	CHECK_INT(p.allocations.groups.n, 1);
	frame = dw_frames_get(&p.frames,
			      dw_stacks_get(&p.stacks, p.allocations.groups.v[0].stack)->frame);
	CHECK_INT(frame->svma, 0x1234);
	m = dw_modules_get(&p.modules, frame->module);
	CHECK(m && m->kind == DWELL_MODULE_FILE);
	CHECK_STR(dw_strings_get(&p.strings, m->name), "libx.so");
	dw_region_allocations_free(r);
	dw_profile_release(&p);
	free(i);
}

TEST(a_row_that_is_ahead_of_others_waits)
{
	struct dw_profile p = DW_PROFILE_INIT;
	struct dw_region_allocations *r = make_reader(&p);
	struct image *i = make_image();
	uint32_t *nodes = &i->chunks[0].head.rows[DWELL_CLR_NODES], all = *nodes;

	*nodes = 3;
	CHECK_INT(read_image(r, i, 0), 0);
	CHECK_INT(p.allocations.deltas.n, 0);
	CHECK_INT(dw_region_allocations_stats(r)->broken, 1);
	*nodes = all;
	CHECK_INT(read_image(r, i, 1), 0);
	CHECK_INT(p.allocations.deltas.n, 1);
	CHECK_INT(p.allocations.deltas.v[0].values.allocated.objects, 7);
	CHECK_INT(dw_region_allocations_stats(r)->broken, 0);
	dw_region_allocations_free(r);
	dw_profile_release(&p);
	free(i);
}

/* Read a changed image: whether no group of it is taken, or reading fails. */
static bool is_dropped(struct image *i)
{
	struct dw_profile p = DW_PROFILE_INIT;
	struct dw_region_allocations *r = make_reader(&p);
	int rc = read_image(r, i, 0);
	bool is_none = rc || p.allocations.deltas.n == 0;

	dw_region_allocations_free(r);
	dw_profile_release(&p);
	free(i);
	return is_none;
}

TEST(samples_are_scaled)
{
	struct dw_profile p = DW_PROFILE_INIT;
	struct dw_region_allocations *r = make_reader(&p);
	struct image *i = make_image();
	struct dw_clr_group *groups = table(i, DWELL_CLR_GROUPS);
	struct dw_clr_head *head = &i->chunks[0].head;
	const __auto_type deltas = &p.allocations.deltas;

	head->facts[DWELL_CLR_VERSION_MAJOR] = 10;
	head->facts[DWELL_CLR_SAMPLE_BYTES] = DWELL_CLR_DRAW_BYTES;
	groups[1] = (struct dw_clr_group){.type = 1, .node = 3, .thread = 1, .units = 4};
	groups[1].allocated = (struct dw_clr_count){10, 320};
	CHECK_INT(read_image(r, i, 0), 0);
	/* One in 1 / (1 - (1 - 1 / 102400) ^ 32) = 3200.48. */
	CHECK_INT(deltas->v[0].values.allocated.objects, 32005);
	CHECK_INT(deltas->v[0].values.allocated.bytes, 1024155);
	groups[1].allocated = (struct dw_clr_count){20, 640};
	head->facts[DWELL_CLR_SAMPLE_BYTES] = 2 * DWELL_CLR_DRAW_BYTES;
	CHECK_INT(read_image(r, i, 1), 0);
	CHECK_INT(deltas->v[1].values.allocated.objects, 128019 - 32005);
	groups[1].units = UINT32_MAX;
	groups[1].allocated = (struct dw_clr_count){UINT64_MAX, UINT64_MAX};
	CHECK_INT(read_image(r, i, 2), 0);
	CHECK_INT(deltas->v[2].values.allocated.bytes, 1000000000000000000 - 4096620);
	dw_region_allocations_free(r);
	dw_profile_release(&p);
	free(i);
}

TEST(lies_reach_nothing)
{
	struct image *i = make_image();

	((struct dw_clr_node *)table(i, DWELL_CLR_NODES))[2].parent = 3; /* a circle */
	CHECK(is_dropped(i));
	i = make_image();
	((struct dw_clr_node *)table(i, DWELL_CLR_NODES))[3].parent = UINT32_MAX;
	CHECK(is_dropped(i));
	i = make_image();
	((struct dw_clr_node *)table(i, DWELL_CLR_NODES))[3].frame = 1000;
	CHECK(is_dropped(i));
	i = make_image();
	((struct dw_clr_group *)table(i, DWELL_CLR_GROUPS))[1].node = 5000;
	CHECK(is_dropped(i));
	i = make_image();
	((struct dw_clr_group *)table(i, DWELL_CLR_GROUPS))[1].type = 2; /* empty */
	CHECK(is_dropped(i));
	i = make_image();
	((struct dw_clr_group *)table(i, DWELL_CLR_GROUPS))[1].thread = 900;
	CHECK(is_dropped(i));
	i = make_image();
	((struct dw_clr_type *)table(i, DWELL_CLR_TYPES))[1].name.bytes = UINT32_MAX;
	CHECK(is_dropped(i));
	i = make_image();
	((struct dw_clr_frame *)table(i, DWELL_CLR_FRAMES))[2].function = 77;
	CHECK(is_dropped(i));
	i = make_image();
	i->chunks[0].head.rows[DWELL_CLR_GROUPS] = UINT32_MAX; /* beyond all limits */
	CHECK(is_dropped(i));
	i = make_image();
	i->header.chunks[1 + DWELL_CLR_NODES].bytes = INT64_MAX / 2; /* beyond the file */
	i->header.chunks[1 + DWELL_CLR_NODES].at = sizeof *i - 8;
	CHECK(is_dropped(i));
	i = make_image();
	i->header.chunks[0].kind = DWELL_REGION_CHUNK_ARENA; /* no head */
	CHECK(is_dropped(i));
}

TEST_MAIN()
