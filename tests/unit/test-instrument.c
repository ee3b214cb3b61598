/*
 * Unit tests of what src/record knows for instrumentation: programs and whether they take an agent,
 * their environment and libraries, chosen names, clone images and the thread that makes them.
 */
#include "check.h"
#include "scratch.h"

#include "base/cleanup.h"
#include "record/probe-selection.h"
#include "record/images.h"
#include "record/launcher.h"
#include "record/program.h"
#include "record/target-environment.h"
#include "wire/region.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/stat.h>

#define LOADER "/lib64/ld-linux-x86-64.so.2"
#define BIG    "/usr/bin/awk"

/* Write @text to the executable file @name. */
static void write_script(const char *name, const char *text)
{
	FILE *f = fopen(name, "w");

	if (f) {
		fputs(text, f);
		fclose(f);
		chmod(name, 0755);
	}
}

/* Copy this program to @name with @n bytes at @offset changed to @bytes; offset 0 = where the
 * loader's name stands. */
static bool write_changed(const char *name, size_t offset, const char *bytes, size_t n)
{
	FILE *from = fopen("/proc/self/exe", "r"), *to = fopen(name, "w");
	char *all = calloc(1, 32 << 20), *at;
	size_t size = from && all ? fread(all, 1, 32 << 20, from) : 0;
	bool ok = false;

	at = size ? memmem(all, size, LOADER, sizeof LOADER) : NULL;
	if (at && to) {
		memcpy(offset ? all + offset : at, bytes, n);
		ok = fwrite(all, 1, size, to) == size;
	}
	if (from)
		fclose(from);
	if (to)
		fclose(to);
	free(all);
	return ok && !chmod(name, 0755);
}

static enum dw_program_kind kind_of(const char *name)
{
	struct dw_program p;
	enum dw_program_kind kind;

	dw_program_find(name, &p);
	kind = p.kind;
	dw_program_release(&p);
	return kind;
}

TEST(programs_are_found_as_exec_finds_them)
{
	struct dw_program p;

	dw_program_find("ls", &p);
	CHECK_INT(p.kind, DWELL_PROGRAM_FITS);
	CHECK_CONTAINS(p.path, "/ls");
	CHECK(p.fd >= 0);
	dw_program_release(&p);
	CHECK_INT(kind_of("no-such-program"), DWELL_PROGRAM_MISSING);
	CHECK_INT(kind_of(""), DWELL_PROGRAM_MISSING);
	CHECK_INT(kind_of("/etc"), DWELL_PROGRAM_MISSING);
	CHECK_INT(kind_of("/etc/passwd"), DWELL_PROGRAM_MISSING);
}

TEST(scripts_lead_to_their_interpreters)
{
	struct dw_program p;

	write_script("one", "#! /usr/bin/awk -f\n");
	write_script("two", "#!./one\n");
	write_script("loop", "#!./loop\n");
	write_script("plain", "echo hello\n");
	dw_program_find("./two", &p);
	CHECK_INT(p.kind, DWELL_PROGRAM_FITS);
	CHECK_CONTAINS(p.path, "awk");
	dw_program_release(&p);
	dw_program_find("./plain", &p);
	CHECK_INT(p.kind, DWELL_PROGRAM_FITS);
	CHECK_CONTAINS(p.path, "sh");
	dw_program_release(&p);
	CHECK_INT(kind_of("./loop"), DWELL_PROGRAM_UNKNOWN);
}

TEST(commands_that_start_interpreters_are_known)
{
	static const char *const pythons[] = {"./python3.9",   "./python3.13", "./python3",
					      "./script",      "./by-env",     "./by-env-s",
					      "./shim/python3"};
	static const char *const others[] = {"./python3.8",   "./python3.14", "./python3.1x",
					     "./python3.",    "./python3.+9", "./pypy/python3",
					     "./by-env-perl", "./no-such",    "./odd/python3.12"};

	CHECK(!mkdir("shim", 0755) && !mkdir("pypy", 0755) && !mkdir("odd", 0755));
	CHECK(write_changed("python3.9", 0, LOADER, 0));
	CHECK(!link("python3.9", "python3.13") && !link("python3.9", "python3.8") &&
	      !link("python3.9", "python3.14") && !link("python3.9", "python3.1x") &&
	      !link("python3.9", "python3.") && !link("python3.9", "python3.+9") &&
	      !link("python3.9", "pypy3"));
	CHECK(!symlink("python3.13", "python3") && !symlink("../pypy3", "pypy/python3"));
	CHECK(write_changed("odd/python3.12", 18, "\x28", 1)); /* e_machine: ARM */
	write_script("script", "#!./python3.9 -s\n");
	write_script("by-env", "#!/usr/bin/env ./python3.9\n");
	write_script("by-env-s", "#! /usr/bin/env -S A=1 ./python3.9 -s\n");
	write_script("by-env-perl", "#!/usr/bin/env perl\n");
	write_script("shim/python3", "#!/bin/sh\n"); /* of a manager of versions */
	for (size_t i = 0; i < sizeof pythons / sizeof *pythons; i++)
		if (!dw_interpreter_command(pythons[i]))
			CHECK_FAIL("%s", pythons[i]);
	for (size_t i = 0; i < sizeof others / sizeof *others; i++)
		if (dw_interpreter_command(others[i]))
			CHECK_FAIL("%s", others[i]);
	CHECK(!link("python3.9", "php8.2") && !link("python3.9", "ruby3.1") &&
	      !link("python3.9", "php5.6") && !link("python3.9", "rubyfmt"));
	write_script("script.rb", "#!./ruby3.1\n");
	CHECK(!strcmp(dw_interpreter_command("./python3.9"), "Python") &&
	      !strcmp(dw_interpreter_command("./php8.2"), "PHP") &&
	      !strcmp(dw_interpreter_command("./script.rb"), "Ruby"));
	CHECK(!dw_interpreter_command("./php5.6") && !dw_interpreter_command("./rubyfmt"));
}

TEST(programs_that_take_no_agent_are_known)
{
	static const char musl[sizeof LOADER] = "/lib/ld-musl-x86_64.so.1";

	CHECK(write_changed("musl", 0, musl, sizeof musl));
	CHECK_INT(kind_of("./musl"), DWELL_PROGRAM_LIBC);
	CHECK(write_changed("narrow", 4, "\1", 1)); /* ELFCLASS32 */
	CHECK_INT(kind_of("./narrow"), DWELL_PROGRAM_MACHINE);
	CHECK(write_changed("arm", 18, "\xb7", 1));
	CHECK_INT(kind_of("./arm"), DWELL_PROGRAM_MACHINE);
	/* Ubuntu's is a script that calls the other one. */
	CHECK_INT(kind_of(access("/sbin/ldconfig.real", X_OK) ? "/sbin/ldconfig"
							      : "/sbin/ldconfig.real"),
		  DWELL_PROGRAM_STATIC);
	for (int kind = DWELL_PROGRAM_STATIC; kind < DWELL_PROGRAM_MISSING; kind++)
		CHECK(*dw_program_reason((enum dw_program_kind)kind));
}

TEST(programs_that_change_their_user_are_known)
{
	CHECK(write_changed("setuid", 0, LOADER, sizeof LOADER));
	CHECK_INT(kind_of("./setuid"), DWELL_PROGRAM_FITS);
	CHECK_INT(chmod("setuid", 04755), 0);
	CHECK_INT(kind_of("./setuid"), DWELL_PROGRAM_FITS); /* to the user we are */
	if (chown("setuid", 65534, 65534) || chmod("setuid", 04755))
		SKIP("needs: root");
	CHECK_INT(kind_of("./setuid"), DWELL_PROGRAM_SECURE);
}

static const char *find_entry(char *const *v, const char *start)
{
	for (; *v; v++)
		if (!strncmp(*v, start, strlen(start)))
			return *v;
	return NULL;
}

TEST(agent_is_preloaded_behind_the_users_own)
{
	struct dw_target_environment e;
	size_t n = 0;

	setenv(DWELL_ENV_FOLDER, "stale", 1);
	unsetenv(DWELL_ENV_PRELOAD);
	CHECK_INT(dw_target_environment_make(&e, "/x/agent.so", "/f", "count"), 0);
	CHECK_STR(find_entry(e.v, DWELL_ENV_FOLDER), DWELL_ENV_FOLDER "=/f");
	CHECK_STR(find_entry(e.v, DWELL_ENV_MODE), DWELL_ENV_MODE "=count");
	CHECK(find_entry(e.v, DWELL_ENV_FILTERS));
	while (e.v[n])
		n++;
	CHECK_STR(e.v[n - 1], DWELL_ENV_PRELOAD "=/x/agent.so"); /* last */
	dw_target_environment_release(&e);
	setenv(DWELL_ENV_PRELOAD, "own.so", 1);
	CHECK_INT(dw_target_environment_make(&e, "/x/agent.so", "/f", "count"), 0);
	unsetenv(DWELL_ENV_PRELOAD);
	CHECK_STR(find_entry(e.v, DWELL_ENV_PRELOAD), DWELL_ENV_PRELOAD "=own.so:/x/agent.so");
	dw_target_environment_release(&e);
}

static bool chooses(const char *include, const char *exclude, const char *name)
{
	struct dw_probe_selection c = {.include = {&include, include != NULL},
				       .exclude = {&exclude, exclude != NULL}};

	return dw_probe_selection_has_function(&c, name);
}

TEST(functions_are_chosen_with_and_without_parameters)
{
	CHECK(chooses(NULL, NULL, "any"));
	CHECK(chooses("a::f", NULL, "a::f(int, std::vector<int>)"));
	CHECK(chooses("a::f", NULL, "a::f(int) const"));
	CHECK(chooses("a::f(int)*", NULL, "a::f(int) const"));
	CHECK(chooses("x::operator()", NULL, "x::operator()(void (*)(int))"));
	CHECK(chooses("(anonymous namespace)::g", NULL, "(anonymous namespace)::g()"));
	CHECK(!chooses("a::f", NULL, "a::f2(int)"));
	CHECK(!chooses("a::*", "a::f", "a::f(int)"));
	CHECK(chooses("a::*", "a::f", "a::g(int)"));
	CHECK(!chooses(NULL, "f", "f"));
}

TEST(parts_of_a_chosen_function_are_chosen)
{
	CHECK(chooses("f", NULL, "f.cold"));
	CHECK(chooses("f", NULL, "f.part.0"));
	CHECK(chooses("f", NULL, "f.constprop.0.isra.0.cold"));
	CHECK(chooses("a::f", NULL, "a::f(int) [clone .cold]"));
	CHECK(!chooses("f", NULL, "f.rest"));
	CHECK(!chooses(NULL, "f", "f.cold"));
}

TEST(modules_are_chosen_by_file_name_or_path)
{
	const char *name = "libz.so*", *path = "*/x86_64-linux-gnu/libz*";
	struct dw_globs by_name = {&name, 1}, by_path = {&path, 1}, none = {NULL, 0};

	CHECK_INT(dw_probe_selection_find_module(&by_name, "/usr/lib/x86_64-linux-gnu/libz.so.1"),
		  0);
	CHECK_INT(dw_probe_selection_find_module(&by_path, "/usr/lib/x86_64-linux-gnu/libz.so.1"),
		  0);
	CHECK_INT(dw_probe_selection_find_module(&by_name, "/usr/lib/libzstd.so.1"), -1);
	CHECK_INT(dw_probe_selection_find_module(&none, "/usr/lib/libzstd.so.1"), -1);
}

TEST(libraries_are_listed_without_running)
{
	struct dw_libraries l;
	struct dw_error err = DW_ERROR_INIT;
	bool has_libc = false;

	CHECK_INT(dw_libraries_list("/bin/ls", &l, &err), 0);
	dw_vec_each(path, &l.paths)
		has_libc |= strstr(*path, "/libc.so.6") != NULL;
	CHECK(has_libc);
	dw_libraries_release(&l);
	CHECK(dw_libraries_list("/etc/passwd", &l, &err) < 0);
	CHECK_CONTAINS(dw_error_message(&err), "/etc/passwd");
	dw_libraries_release(&l);
	dw_error_clear(&err);
}

/* The list may have been cut off. */
TEST(libraries_of_a_loader_that_ended_unseen_are_none)
{
	struct dw_libraries l;

	signal(SIGCHLD, SIG_IGN); /* so waitpid() fails */
	CHECK_INT(dw_libraries_list("/bin/ls", &l, NULL), DWELL_ERR_FORMAT);
	signal(SIGCHLD, SIG_DFL);
	dw_libraries_release(&l);
}

TEST(libraries_are_called_like_their_launchers)
{
	static const char *const named[][2] = {
		{"ruby3.1", "libruby-3.1.so.3.1"},
		{"perl", "libperl.so.5.36"},
		{"python3.11", "libpython3.11.so.1.0"},
		{"guile", "libguile-3.0.so.1"},
		{"pypy3.9", "libpypy3.9-c.so"},
		{"clang", "libclang-cpp.so.14"},
		{"clang-17", "libclang-cpp.so.17"},
		{"clang", "libLLVM-14.so.1"},
		{"rustc", "librustc_driver-4c3beb7552356b6f.so"},
		{"R", "libR.so"},
		{"inkscape", "libinkscape_base.so"},
		{"tclsh8.6", "libtcl8.6.so"},
		{"wish8.6", "libtk8.6.so"},
		{"octave-cli-7.3.0", "liboctinterp.so.10"},
		{"gs", "libgs.so.10"},
		{"lua5.4", "liblua5.4.so.0"},
	};
	static const char *const others[][2] = {
		{"convert-im6.q16", "libMagickCore-6.Q16.so.6"},
		{"java", "libjli.so"},
		{"llc", "libLLVM-14.so.1"},
		{"ls", "libselinux.so.1"},
		{"z", "libz.so.1"},
		{"m", "libm.so.6"},
		{"app", "libQt5Core.so.5"},
		{"test", "libboost_test.so.1"},
		{"qt5-app", "libQt5Core.so.5"},
		{"rub", "libruby-3.1.so.3.1"},
		{"clang", "libclangd.so"},
		{"curl-test", "libcurl.so.4"},
		{"ruby3.1", "ruby.so"},
		{"ruby3.1", "libruby"},
		{"", "lib.so"},
		{"1", "libz.so.1"},
		{"ruby", "lib.so"},
	};

	for (size_t i = 0; i < sizeof named / sizeof *named; i++)
		CHECK(dw_launcher_is_named(named[i][0], named[i][1]));
	for (size_t i = 0; i < sizeof others / sizeof *others; i++)
		CHECK(!dw_launcher_is_named(others[i][0], others[i][1]));
}

TEST(executables_with_code_of_their_own_are_no_launchers)
{
	char name[] = "libc.so.6";
	struct dw_launcher l = {.libraries = {.v = (char *[]){name}, .n = 1}};
	struct dw_libraries all;
	int fd = -1;

	CHECK_INT(dw_libraries_list("/bin/ls", &all, NULL), 0);
	dw_vec_each(path, &all.paths) {
		if (dw_launcher_names(&l, *path))
			fd = open(*path, O_RDONLY | O_CLOEXEC);
	}
	CHECK(fd >= 0);
	l.code_bytes = 4096; /* beside more than a megabyte */
	CHECK(dw_launcher_chooses(&l, "/lib/libc.so.6", fd));
	CHECK(!dw_launcher_chooses(&l, "/lib/libc.so.6", -1));
	CHECK(!dw_launcher_chooses(&l, "/lib/libm.so.6", fd));
	l.code_bytes = 1 << 20;
	CHECK(!dw_launcher_chooses(&l, "/lib/libc.so.6", fd));
	close(fd);
	dw_libraries_release(&all);
}

TEST(most_programs_are_no_launchers)
{
	static const char *const programs[] = {"/bin/ls", BIG, "/proc/self/exe", "/etc/passwd"};

	for (size_t i = 0; i < sizeof programs / sizeof *programs; i++) {
		int fd = open(programs[i], O_RDONLY | O_CLOEXEC);
		struct dw_libraries l;

		CHECK(fd >= 0);
		CHECK_INT(dw_launcher_list(fd, programs[i], &l, NULL), 0);
		CHECK_INT(l.paths.n, 0);
		dw_libraries_release(&l);
		close(fd);
	}
}

static struct dw_module_image *get(struct dw_images *s, const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	return fd < 0 ? NULL : dw_images_get(s, fd, path, geteuid(), getegid());
}

TEST(images_are_made_once_per_file)
{
	struct dw_image_plan plan = {.cache_dir = "cache", .session_dir = "session"};
	struct dw_images *s;
	struct dw_module_image *m, *none;

	CHECK(!mkdir("cache", 0700));
	CHECK_INT(dw_images_new(&plan, &s, NULL), 0);
	m = get(s, "/proc/self/exe");
	CHECK(m && get(s, "/proc/self/exe") == m);
	dw_images_make(s, m);
	CHECK_INT(m->state, DWELL_IMAGE_READY);
	CHECK(m->header.functions.n > 10);
	CHECK_INT(access(dw_images_path(s, m, geteuid(), "."), R_OK), 0);
	none = get(s, "/etc/passwd");
	CHECK(none && none != m);
	dw_images_make(s, none);
	CHECK_INT(none->state, DWELL_IMAGE_NONE);
	CHECK(none->why);
	dw_images_free(s);
}

TEST(images_are_made_by_a_thread)
{
	struct dw_image_plan plan = {.cache_dir = "cache-2", .session_dir = "session"};
	struct dw_images *s;
	struct dw_module_image *one, *two;
	int rounds = 0;

	CHECK(!mkdir("cache-2", 0700));
	CHECK_INT(dw_images_new(&plan, &s, NULL), 0);
	one = get(s, BIG);
	two = get(s, "/proc/self/exe");
	CHECK(one && two);
	CHECK_INT(dw_images_request(s, one), 0);
	CHECK_INT(dw_images_request(s, two), 0);
	while ((one->state == DWELL_IMAGE_MAKING || two->state == DWELL_IMAGE_MAKING) &&
	       rounds++ < 10) {
		struct pollfd fd = {.fd = dw_images_fd(s), .events = POLLIN};

		CHECK_INT(poll(&fd, 1, 60000), 1);
		CHECK(dw_images_take_done(s));
	}
	CHECK_INT(one->state, DWELL_IMAGE_READY);
	CHECK_INT(two->state, DWELL_IMAGE_READY);
	CHECK(!dw_images_take_done(s));
	dw_images_free(s);
}

TEST(other_users_get_a_readable_copy)
{
	struct dw_image_plan plan = {.cache_dir = "cache-3", .session_dir = "session"};
	struct dw_images *s;
	struct dw_module_image *m;
	const char *path;
	struct stat own, copy;

	CHECK(!mkdir("cache-3", 0700));
	CHECK_INT(dw_images_new(&plan, &s, NULL), 0);
	m = get(s, "/proc/self/exe");
	CHECK(m);
	dw_images_make(s, m);
	path = dw_images_path(s, m, geteuid() + 1, ".");
	CHECK(path && path == dw_images_path(s, m, geteuid() + 1, "."));
	CHECK_INT(stat(path, &copy) | stat(m->image, &own), 0);
	CHECK_INT(copy.st_mode & 07777, 0444);
	CHECK_INT(copy.st_size, own.st_size);
	dw_images_free(s);
}

TEST(functions_are_chosen_in_an_image)
{
	const char *include = "dw_images_*";
	struct dw_image_plan plan = {.cache_dir = "cache-4",
				     .session_dir = "session",
				     .selection.include = {&include, 1}};
	struct dw_images *s;
	struct dw_module_image *m;
	struct dw_function_names names;
	unsigned chosen = 0, wrong = 0;

	CHECK(!mkdir("cache-4", 0700));
	CHECK_INT(dw_images_new(&plan, &s, NULL), 0);
	m = get(s, "/proc/self/exe");
	CHECK(m);
	dw_images_make(s, m);
	CHECK_INT(m->state, DWELL_IMAGE_READY);
	CHECK_INT(dw_module_image_names(m, &names, NULL), 0);
	for (uint32_t i = 0; i < m->header.functions.n; i++) {
		const char *name = dw_function_names_get(&names, i);
		bool fits = name && !strncmp(name, "dw_images_", 10);

		/* A chosen one may be left alone for another reason. */
		chosen += m->functions[i].reason != DWELL_LEFT_NOT_CHOSEN;
		wrong += fits ? m->functions[i].reason == DWELL_LEFT_NOT_CHOSEN
			      : m->functions[i].reason == DWELL_CLONED;
	}
	CHECK(chosen >= 5 && chosen < m->header.functions.n / 2);
	CHECK_INT(wrong, 0);
	dw_function_names_release(&names);
	dw_images_free(s);
}

TEST_MAIN()
