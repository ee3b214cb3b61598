/* Unit tests of methods with probes: which assemblies are in scope, and what their keys mean to the
 * collector. */
#include "check.h"
#include "scratch.h"

#include "agent/managed/scope.h"
#include "agent/managed/selection.h"
#include "analysis/just-my-code.h"
#include "base/cleanup.h"
#include "code/clr/method-name.h"
#include "record/call-methods.h"

#include "maker.h"
#include "region-writer.h"

static bool wants(const char *mode, const char *path)
{
	dw_managed_scope_start(mode);
	return dw_managed_scope_wants(path, (uint32_t)strlen(path));
}

static bool fits(const char *text, const char *pattern)
{
	return dw_managed_fits(text, (uint32_t)strlen(text), pattern, (uint32_t)strlen(pattern));
}

TEST(patterns_fit_whole_texts)
{
	CHECK(fits("app.dll", "app.dll") && fits("app.dll", "*") && fits("app.dll", "a*.d?l"));
	CHECK(fits("aaab", "*a*b") && fits("aaab", "a*ab") && fits("", "") && fits("", "**"));
	CHECK(!fits("app.dll", "app") && !fits("app", "app.dll") && !fits("", "?"));
	CHECK(!fits("aaac", "*a*b") && !fits("ab", "a?b") && !fits("app.dll", "?"));
}

TEST(the_applications_own_assemblies_are_in_scope)
{
	const char *mode = "time memory=1 managed=1";

	CHECK(wants(mode, "/home/u/app/app.dll"));
	CHECK(wants(mode, "/home/u/app/Newtonsoft.Json.dll"));
	CHECK(wants(mode, "/home/u/SystemOf.dll"));
	CHECK(!wants(mode, "/home/u/app/System.Text.Json.dll"));
	CHECK(!wants(mode, "/home/u/app/Microsoft.Extensions.Hosting.dll"));
	CHECK(!wants(mode,
		     "/usr/share/dotnet/shared/Microsoft.NETCore.App/10.0.1/WindowsBase.dll"));
	CHECK(!wants(mode, "made.dll")); /* it has no file */
	CHECK(!wants(mode, ""));
}

static struct dw_name name_of(const char *text)
{
	struct dw_name name = {.bytes = (uint32_t)strlen(text)};

	memcpy(name.text, text, name.bytes);
	return name;
}

static bool has(const char *mode, const char *text)
{
	struct dw_name name = name_of(text);

	dw_method_selection_start(mode);
	return dw_method_selection_has(&name, false);
}

/* Of methods in which others wait only those have no probe that are left out by name. */
TEST(methods_that_wait_are_chosen_unless_they_are_left_out)
{
	const struct dw_name sleep = name_of("System.Threading.Thread::Sleep");

	dw_method_selection_start("time include=A.*");
	CHECK(!dw_method_selection_has(&sleep, false) && dw_method_selection_has(&sleep, true));
	dw_method_selection_start("time exclude=*.Sleep");
	CHECK(!dw_method_selection_has(&sleep, true));
}

TEST(methods_are_chosen_by_their_full_names)
{
	CHECK(has("time include=A.B.C", "A.B::C") && !has("time include=A.B.C", "A.B::D"));
	CHECK(has("time include=A.B.*", "A.B::C") && !has("time include=A.B.*", "A.X::C"));
	CHECK(has("time include=*.C,*.D", "A.B::D") && !has("time include=*.C", "A.B::CD"));
	CHECK(has("time include=*.C exclude=A.*", "B::C"));
	CHECK(!has("time include=*.C exclude=A.*", "A::C"));
	CHECK(has("time exclude=A.*", "B::C") && !has("time exclude=A.*", "A::C"));
	CHECK(has("time slow=A.*", "B::C"));
	/* Nested, generic, overloaded, and what compilers make. */
	CHECK(has("time include=A.B.N.C", "A.B+N::C") &&
	      has("time include=A.B..ctor", "A.B::.ctor"));
	CHECK(has("time include=A.B.C", "A.B<T>::C<U>(int, A.X<T>)"));
	CHECK(has("time include=A.B<T>.C<U>", "A.B<T>::C<U>(int, A.X<T>)"));
	CHECK(has("time include=A.B<T>.C<U>(int%2c%20A.X<T>)", "A.B<T>::C<U>(int, A.X<T>)"));
	CHECK(!has("time include=A.B<T>.C<U>(int)", "A.B<T>::C<U>(int, A.X<T>)"));
	CHECK(has("time include=A.B.C", "A.B+<C>d__1::MoveNext"));
	CHECK(has("time include=A.B.C", "A.B+<C>d__1<T>::MoveNext"));
	CHECK(has("time include=A.B.C", "A.B+<>c::<C>b__0_1"));
	CHECK(has("time include=A.B.C", "A.B+<>c+<<C>b__0_1>d::MoveNext"));
	CHECK(has("time include=A.B.C.L", "A.B::<C>g__L|0_1"));
	CHECK(!has("time include=A.B.C.L", "A.B::C") &&
	      !has("time include=A.B.C", "A.B+<D>d__1::C"));
}

/* The name that a report shows is one that chooses the method. */
TEST(names_that_reports_show_choose)
{
	static const char *const names[] = {
		"A.B::C",
		"A.B+N::C",
		"A.B<T>+N<U>::C<V>(A.X<T>, int[])",
		"A.B+<C>d__1::MoveNext",
		"A.B+<>c::<C>b__0_1",
		"A.B+<>c+<<C>b__0_1>d::MoveNext",
		"A.B::<C>g__L|0_1",
		"A.<File>F0123__B::C",
		"A.B::<C>$",
		"A.B::.cctor",
		"<Module>::Main",
		"A.B+<C>d__1<T>::System.Collections.IEnumerator.MoveNext",
		"<C>",
		"A.B::<>x"};

	for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
		dw_auto(dw_buf) shown = DW_BUF_INIT;
		char mode[256] = "time include=";
		size_t n = strlen(mode);

		dw_method_name_put(&shown, names[i], strlen(names[i]));
		for (const char *c = dw_buf_str(&shown); *c && n < sizeof mode - 4; c++)
			n += (size_t)snprintf(mode + n, 4, *c == ' ' || *c == ',' ? "%%%02x" : "%c",
					      *c);
		CHECK(has(mode, names[i]));
	}
}

/* What has probes is what reports call the user's code. */
TEST(the_systems_assemblies_are_those_that_reports_fold)
{
	static const char *const names[] = {
		"System.Text.Json.dll", "System.dll",	  "Microsoft.A.dll",	 "mscorlib.dll",
		"netstandard.dll",	"app.dll",	  "Newtonsoft.Json.dll", "SystemOf.dll",
		"Microsofts.dll",	"FSharp.Core.dll"};
	struct dw_profile p = {0};
	int systems = 0;

	for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
		bool is_system = dw_is_system_module(&p, mk_module(&p, names[i]));
		char path[64];

		snprintf(path, sizeof path, "/app/%s", names[i]);
		CHECK_INT(wants("time managed=1", path), !is_system);
		systems += is_system;
	}
	CHECK_INT(systems, 5);
	dw_profile_release(&p);
}

TEST(named_assemblies_are_in_scope_too)
{
	const char *mode =
		"time managed=1 modules=System.Text.*,/opt/*/Microsoft.A.dll os-source=perf";

	CHECK(wants(mode, "/home/u/app/app.dll"));
	CHECK(wants(mode,
		    "/usr/share/dotnet/shared/Microsoft.NETCore.App/10.0.1/System.Text.Json.dll"));
	CHECK(wants(mode, "/opt/app/Microsoft.A.dll"));
	CHECK(!wants(mode, "/home/app/Microsoft.A.dll"));
	CHECK(!wants(mode,
		     "/usr/share/dotnet/shared/Microsoft.NETCore.App/10.0.1/System.Linq.dll"));
	CHECK(!wants("time modules=*", "/app/System.Private.CoreLib.dll"));
}

/* Tables of two methods, one row of keys behind them that is not there yet. */
struct tables {
	struct dw_clr_head head;
	char texts[64];
	struct dw_clr_module modules[2];
	struct dw_clr_function functions[3];
	struct dw_clr_probed probed[4];
};

static void put_chunk(struct region_writer *w, enum dw_clr_table table, size_t at, size_t bytes)
{
	w->h->chunks[w->h->chunk_n++] = (struct dw_region_chunk){DWELL_REGION_CHUNK_CLR + 1 + table,
								 0, sizeof *w->h + at, bytes};
}

static struct tables *write_tables(struct region_writer *w)
{
	struct tables *t;

	*w = region_write(".", "methods", sizeof *t);
	if (!w->h)
		abort();
	t = (struct tables *)(w->h + 1);
	memcpy(t->texts, "?/app/app.dllA.B+C::DA.B::<E>d__1::MoveNext", 43);
	t->modules[1] = (struct dw_clr_module){{1, 12}, 0, 0};
	t->functions[1] = (struct dw_clr_function){{13, 8}, 1, 0x06000007};
	t->functions[2] = (struct dw_clr_function){{21, 22}, 1, 0x06000008};
	t->head.rows[DWELL_CLR_TEXTS] = 43;
	t->head.rows[DWELL_CLR_MODULES] = 2;
	t->head.rows[DWELL_CLR_FUNCTIONS] = 3;
	t->head.rows[DWELL_CLR_PROBED] = 4;
	t->head.facts[DWELL_CLR_PROBES_AT] = 0x7000;
	t->head.facts[DWELL_CLR_PROBES_BYTES] = 0x100;
	w->h->chunks[w->h->chunk_n++] =
		(struct dw_region_chunk){DWELL_REGION_CHUNK_CLR, 0, sizeof *w->h, sizeof t->head};
	put_chunk(w, DWELL_CLR_TEXTS, offsetof(struct tables, texts), sizeof t->texts);
	put_chunk(w, DWELL_CLR_MODULES, offsetof(struct tables, modules), sizeof t->modules);
	put_chunk(w, DWELL_CLR_FUNCTIONS, offsetof(struct tables, functions), sizeof t->functions);
	put_chunk(w, DWELL_CLR_PROBED, offsetof(struct tables, probed), sizeof t->probed);
	return t;
}

static void read_again(struct dw_call_methods *m, const struct region_writer *w)
{
	struct dw_region_head head;

	if (dw_region_read_head(w->fd, &head) || dw_call_methods_read(m, w->fd, &head))
		abort();
}

static uint32_t frame_of(struct dw_call_methods *m, uint64_t key)
{
	uint32_t frame;

	if (dw_call_methods_frame(m, key, &frame))
		abort();
	return frame;
}

TEST(keys_are_frames_of_methods)
{
	struct dw_profile p = {0};
	struct dw_call_methods m;
	struct region_writer w;
	struct tables *t = write_tables(&w);
	const struct dw_frame *frame;
	uint32_t first;

	dw_call_methods_init(&m, &p);
	t->probed[1] = (struct dw_clr_probed){100, 2};
	read_again(&m, &w);
	CHECK(m.is_there);
	first = frame_of(&m, 100);
	CHECK(first);
	CHECK_INT(frame_of(&m, 101), 0);
	frame = dw_frames_get(&p.frames, first);
	CHECK_INT(frame->svma >> 32, 8);
	CHECK_STR(dw_strings_get(&p.strings, dw_modules_get(&p.modules, frame->module)->path),
		  "/app/app.dll");

	/* The row behind one that is not there yet does not count before that. */
	t->probed[3] = (struct dw_clr_probed){102, 1};
	read_again(&m, &w);
	CHECK_INT(frame_of(&m, 102), 0);
	t->probed[2] = (struct dw_clr_probed){101, 2}; /* compiled once more */
	read_again(&m, &w);
	CHECK_INT(frame_of(&m, 101), first);
	CHECK(frame_of(&m, 102) && frame_of(&m, 102) != first);
	CHECK(dw_call_methods_is_probe(&m, 0x70ff) && !dw_call_methods_is_probe(&m, 0x7100));

	dw_call_methods_release(&m);
	dw_profile_release(&p);
	region_leave(&w);
	unlink("methods");
}

TEST(rows_that_make_no_sense_are_no_methods)
{
	struct dw_profile p = {0};
	struct dw_call_methods m;
	struct region_writer w;
	struct tables *t = write_tables(&w);

	dw_call_methods_init(&m, &p);
	t->functions[2].name.at = 1000;
	t->probed[1] = (struct dw_clr_probed){7, 0};
	t->probed[2] = (struct dw_clr_probed){8, 77};
	t->probed[3] = (struct dw_clr_probed){9, 2};
	read_again(&m, &w);
	for (uint64_t key = 6; key < 11; key++)
		CHECK_INT(frame_of(&m, key), 0);
	dw_call_methods_release(&m);
	dw_profile_release(&p);
	region_leave(&w);
	unlink("methods");
}

TEST(processes_without_a_runtime_have_no_methods)
{
	struct dw_profile p = {0};
	struct dw_call_methods m;
	struct region_writer w = region_write(".", "native", 0);

	dw_call_methods_init(&m, &p);
	read_again(&m, &w);
	CHECK(!m.is_there && !frame_of(&m, 1) && !dw_call_methods_is_probe(&m, 0));
	dw_call_methods_release(&m);
	dw_profile_release(&p);
	region_leave(&w);
	unlink("native");
}

TEST_MAIN()
