/* Symbols: answers on the pipe, the choice among ELF symbols, and this very program symbolized. */
#include "check.h"

#include "symbol/debug-package.h"
#include "symbol/question.h"
#include "symbol/spawn.h"
#include "symbol/demangle.h"
#include "symbol/prefetch.h"
#include "symbol/symbolize.h"
#include "symbol/symtab.h"

#include "base/error.h"

#include <dlfcn.h>
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <link.h>
#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static struct dw_answer make_answer(void)
{
	struct dw_answer a = {0};
	uint32_t name, file;

	dw_strings_adds(&a.strings, "name()", &name);
	dw_strings_adds(&a.strings, "/tmp/file.c", &file);
	dw_vec_push(&a.functions, (struct dw_function){0});
	dw_vec_push(
		&a.functions,
		(struct dw_function){
			.name = name, .file = file, .line = 7, .svma = 1ull << 40, .bytes = 99});
	dw_vec_push(&a.rows, (struct dw_location){1, file, 70000, 3, 70001, 0});
	dw_vec_push(&a.rows, (struct dw_location){1, file, 8, 0, 0, 0});
	dw_vec_push(&a.first, 0);
	dw_vec_push(&a.first, 2);
	dw_vec_push(&a.first, 2);
	return a;
}

TEST(answer_round_trip)
{
	struct dw_answer a = make_answer(), b = {0};
	struct dw_buf buf = DW_BUF_INIT;

	CHECK_INT(dw_answer_encode(&a, &buf), 0);
	CHECK_INT(dw_answer_decode(buf.data, buf.len, 2, &b), 0);
	CHECK_INT(b.functions.n, 2);
	CHECK_STR(dw_strings_get(&b.strings, b.functions.v[1].name), "name()");
	CHECK_INT(b.functions.v[1].svma, 1ll << 40);
	CHECK_INT(b.first.v[1], 2);
	CHECK_INT(b.first.v[2], 2);
	CHECK_INT(b.rows.v[0].line_end, 70001);
	CHECK_INT(b.rows.v[1].line, 8);
	dw_answer_release(&a);
	dw_answer_release(&b);
	dw_buf_release(&buf);
}

TEST(answer_refuses_lies)
{
	struct dw_answer a = make_answer();
	struct dw_buf buf = DW_BUF_INIT;

	CHECK_INT(dw_answer_encode(&a, &buf), 0);
	for (size_t n = 0; n < buf.len; n++) { /* truncated anywhere */
		struct dw_answer b = {0};

		CHECK_INT(dw_answer_decode(buf.data, n, 2, &b), DWELL_ERR_FORMAT);
		dw_answer_release(&b);
	}
	for (size_t i = 0; i < 3; i++) { /* about another number of addresses */
		struct dw_answer b = {0};

		CHECK_INT(dw_answer_decode(buf.data, buf.len, i, &b),
			  i == 2 ? 0 : DWELL_ERR_FORMAT);
		dw_answer_release(&b);
	}
	a.rows.v[1].function = 2; /* a function that is not there */
	dw_buf_clear(&buf);
	CHECK_INT(dw_answer_encode(&a, &buf), 0);
	struct dw_answer b = {0};
	CHECK_INT(dw_answer_decode(buf.data, buf.len, 2, &b), DWELL_ERR_FORMAT);
	dw_answer_release(&b);
	dw_answer_release(&a);
	dw_buf_release(&buf);
}

TEST(demangles)
{
	static const char *const names[][2] = {
		{"_ZNK3foo3barEii", "foo::bar(int, int) const"},
		{"_ZN4core3fmt9Formatter3pad17h0123456789abcdefE", "core::fmt::Formatter::pad"},
		{"_RNvCs1234_7mycrate3foo", "mycrate::foo"},
		{"_D3std5stdio7writelnFAyaZv", "std.stdio.writeln(immutable(char)[])"},
		{"_ZL5plainv.cold", "plain() [clone .cold]"},
	};

	for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
		char *got = dw_demangle(names[i][0]);

		CHECK_STR(got, names[i][1]);
		free(got);
	}
	CHECK(!dw_demangle("main"));
	CHECK(!dw_demangle("_start"));
	CHECK(!dw_demangle(""));
}

static void add(struct dw_symtab *t, uint64_t svma, uint64_t bytes, const char *name, int binding,
		bool is_function)
{
	dw_vec_push(&t->rows, (struct dw_symbol){.svma = svma,
						 .bytes = bytes,
						 .limit = 0x9000,
						 .name = name,
						 .binding = (uint8_t)binding,
						 .is_function = is_function});
}

static const char *name_at(const struct dw_symtab *t, uint64_t svma)
{
	const struct dw_symbol *s = dw_symtab_find(t, svma);

	return s ? s->name : "none";
}

TEST(symbol_choice)
{
	struct dw_symtab t = {0};

	add(&t, 0x1000, 16, "__write", 0, true);
	add(&t, 0x1000, 16, "awrite", 1, true);
	add(&t, 0x1000, 0, "aalias", 0, false);
	add(&t, 0x1000, 16, "write_b", 0, true);
	add(&t, 0x1000, 16, "write_a", 0, true);
	add(&t, 0x2000, 0x100, "big", 2, true);
	add(&t, 0x2010, 0, "label_in_big", 0, false);
	add(&t, 0x2020, 8, "small_in_big", 2, true);
	add(&t, 0x3000, 0, "unsized", 0, true);
	add(&t, 0x3100, 1, "next", 0, true);
	add(&t, 0x3200, 8, "cfree@V_1", 0, true);
	add(&t, 0x3200, 8, "free@@V_1", 0, true);
	add(&t, 0x8000, 0, "last", 0, true);
	dw_symtab_sort(&t);
	CHECK_STR(name_at(&t, 0xfff), "none");
	CHECK_STR(name_at(&t, 0x1000), "write_a");
	CHECK_STR(name_at(&t, 0x100f), "write_a");
	CHECK_STR(name_at(&t, 0x1010), "none");
	CHECK_STR(name_at(&t, 0x2018), "big");
	CHECK_STR(name_at(&t, 0x2027), "small_in_big");
	CHECK_STR(name_at(&t, 0x2028), "big");
	CHECK_STR(name_at(&t, 0x20ff), "big");
	CHECK_STR(name_at(&t, 0x2100), "none");
	CHECK_STR(name_at(&t, 0x30ff), "unsized");
	CHECK_STR(name_at(&t, 0x3101), "none");
	CHECK_STR(name_at(&t, 0x3200), "free@@V_1");
	CHECK_STR(name_at(&t, 0x8fff), "last");
	CHECK_STR(name_at(&t, 0x9000), "none");
	dw_symtab_release(&t);
}

/* Lines that the compiler told, to compare with those that symbols tell. */
struct lines {
	int declared;
	int inner;
	int call;
};

static inline __attribute__((always_inline)) uint64_t inner_address(struct lines *lines)
{
	uint64_t here;

	lines->declared = __LINE__ - 4;
	lines->inner = __LINE__ + 1;
	__asm__ volatile("lea 0(%%rip), %0" : "=r"(here));
	return here - 1; /* in the instruction above, as a return address would be */
}

static __attribute__((noinline)) uint64_t outer_address(struct lines *lines)
{
	uint64_t address;

	lines->call = __LINE__ + 1;
	address = inner_address(lines);
	return address;
}

/* What the loader added to the addresses of this program. */
static int first_bias(struct dl_phdr_info *info, size_t size, void *ctx)
{
	(void)size;
	*(uint64_t *)ctx = info->dlpi_addr;
	return 1;
}

/* A profile with one module, this program, and a frame at each of @svmas. */
static void make_profile(struct dw_profile *p, const uint64_t *svmas, size_t n)
{
	struct dw_module m = {.kind = DWELL_MODULE_FILE};
	uint32_t id;

	dw_strings_adds(&p->strings, "/proc/self/exe", &m.path);
	dw_strings_adds(&p->strings, "exe", &m.name);
	dw_modules_add(&p->modules, &m, &id);
	for (size_t i = 0; i < n; i++)
		dw_frames_add(&p->frames, (struct dw_frame){.module = 1, .svma = svmas[i]}, &id);
}

static const struct dw_function *function_of(const struct dw_profile *p,
					     const struct dw_location *l)
{
	return &p->functions.rows.v[l->function];
}

/* What a prefetching helper meets. */
enum early { EARLY_NONE, EARLY_ALIVE, EARLY_KILLED };

/* A child of ours, 0 = there is none, -1 = that cannot be known. */
static pid_t find_child(void)
{
	char path[64], text[32] = "";
	ssize_t n;
	int fd;

	snprintf(path, sizeof path, "/proc/self/task/%d/children", (int)getpid());
	fd = open(path, O_RDONLY | O_CLOEXEC);
	n = read(fd, text, sizeof text - 1);
	close(fd);
	return n < 0 ? -1 : (pid_t)strtol(text, NULL, 10);
}

/* Symbolize @p, of which a helper learns after its first frame. */
static void symbolize(bool *check_failed, struct dw_profile *p,
		      const struct dw_module_source *sources, enum early early,
		      const uint64_t svmas[2], struct dw_symbol_stats *stats)
{
	struct dw_symbol_options options = {0};
	pid_t helper;
	uint32_t id;

	make_profile(p, svmas, 1);
	if (early != EARLY_NONE) {
		CHECK_INT(dw_symbolize_prefetch(p, sources, 2, NULL, &options.prefetch), 0);
		CHECK(dw_prefetch_knows(options.prefetch, 1));
		CHECK(!dw_prefetch_knows(options.prefetch, 2));
	}
	if (early == EARLY_KILLED) {
		helper = find_child();
		CHECK(helper > 0); /* kill() takes others for groups and for all we may kill */
		kill(helper, SIGKILL);
	}
	dw_frames_add(&p->frames, (struct dw_frame){.module = 1, .svma = svmas[1]}, &id);
	CHECK_INT(dw_symbolize(p, sources, 2, &options, stats, NULL), 0);
	/* It is ended when it has not answered. */
	CHECK_INT(find_child() != 0, early == EARLY_ALIVE);
	CHECK(!dw_prefetch_knows(options.prefetch, 1));
	dw_prefetch_free(options.prefetch);
	CHECK_INT(find_child(), 0);
}

static void check_own_program(bool *check_failed, enum early early)
{
	struct dw_profile p = DW_PROFILE_INIT;
	struct dw_module_source sources[2] = {{.fd = -1, .root_fd = -1}};
	struct dw_symbol_stats stats;
	const struct dw_location *l;
	uint64_t bias, svmas[2];
	uint32_t n;
	struct lines lines;

	dl_iterate_phdr(first_bias, &bias);
	svmas[0] = outer_address(&lines) - bias;
	svmas[1] = 1; /* in no code */
	sources[1] = (struct dw_module_source){.fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC),
					       .root_fd = -1,
					       .uid = geteuid(),
					       .gid = getegid()};
	symbolize(check_failed, &p, sources, early, svmas, &stats);
	CHECK_INT(stats.frames, 2);
	CHECK_INT(stats.frames_named, 1);
	CHECK_INT(stats.frames_lines, 1);
	CHECK_INT(stats.modules_failed, 0);
	l = dw_locations_get(&p.locations, 1, &n);
	CHECK_INT(n, 2);
	CHECK_STR(dw_strings_get(&p.strings, function_of(&p, &l[0])->name), "inner_address");
	CHECK_STR(dw_strings_get(&p.strings, function_of(&p, &l[1])->name), "outer_address");
	CHECK_INT(l[0].line, lines.inner);
	CHECK_INT(l[1].line, lines.call);
	CHECK_INT(function_of(&p, &l[0])->line, lines.declared);
	CHECK_INT(function_of(&p, &l[0])->flags, DWELL_FUNCTION_INLINED);
	CHECK_INT(function_of(&p, &l[1])->flags, 0);
	CHECK_CONTAINS(dw_strings_get(&p.strings, l[0].file), "test-symbol.c");
	l = dw_locations_get(&p.locations, 2, &n);
	CHECK_INT(n, 1);
	CHECK_STR(dw_strings_get(&p.strings, function_of(&p, l)->name), "exe+0x1");
	CHECK_INT(p.codes.rows.n, 1);
	CHECK_INT(p.codes.rows.v[0].bytes_n, function_of(&p, l - 1)->bytes);
	CHECK(!memcmp(p.codes.rows.v[0].bytes, (void *)(p.codes.rows.v[0].svma + bias),
		      p.codes.rows.v[0].bytes_n));
	close(sources[1].fd);
	dw_profile_release(&p);
}

TEST(own_program)
{
	check_own_program(check_failed, EARLY_NONE);
}

TEST(a_helper_that_prefetches)
{
	check_own_program(check_failed, EARLY_ALIVE);
}

TEST(a_prefetching_helper_that_was_killed)
{
	check_own_program(check_failed, EARLY_KILLED);
}

static unsigned forks;

static void count_fork(void)
{
	forks++;
}

/* A child that fork() leaves of a process with threads may find any lock taken for ever. */
TEST(helpers_are_no_forks)
{
	CHECK_INT(pthread_atfork(count_fork, NULL, NULL), 0);
	check_own_program(check_failed, EARLY_NONE);
	check_own_program(check_failed, EARLY_ALIVE);
	CHECK_INT(forks, 0);
}

/* Let close_range() fail in this process, as under a filter of a container's. */
static bool refuse_close_range(void)
{
	struct sock_filter rules[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_close_range, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = {sizeof rules / sizeof *rules, rules};

	return !prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) &&
	       !prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) && close_range(900, 901, 0);
}

static bool is_open(int fd)
{
	return fcntl(fd, F_GETFD) >= 0;
}

/* What the descriptors are afterwards: bits of those that are wrong. */
static int close_some(void)
{
	dup2(0, 99);
	dup2(0, 100);
	dup2(0, 150);
	dup2(0, 200);
	dup2(0, 201);
	if (dw_spawn_close(100, 200))
		return 64;
	return !is_open(99) + 2 * is_open(100) + 4 * is_open(150) + 8 * is_open(200) +
	       16 * !is_open(201);
}

TEST(descriptors_are_closed_without_close_range)
{
	pid_t pid;
	int status;

	CHECK_INT(close_some(), 0);
	pid = fork();
	if (!pid)
		_exit(refuse_close_range() ? close_some() : 77);
	CHECK_INT(waitpid(pid, &status, 0), pid);
	CHECK_INT(status, 0);
}

/* Modules without a file, frames without a module, stacks cut: every kind gets its row. */
TEST(nothing_to_read)
{
	struct dw_profile p = DW_PROFILE_INIT;
	const struct dw_location *l;
	uint64_t svma = 0x1234;
	uint32_t id, n;

	make_profile(&p, &svma, 1);
	dw_frames_add(&p.frames, (struct dw_frame){.svma = 0x7000}, &id);
	dw_frames_add(&p.frames, (struct dw_frame){.svma = 0x8000}, &id);
	dw_frames_add(&p.frames, (struct dw_frame){.kind = DWELL_FRAME_CUT}, &id);
	CHECK_INT(dw_symbolize(&p, NULL, 0, NULL, NULL, NULL), 0);
	l = dw_locations_get(&p.locations, 1, &n);
	CHECK_INT(n, 1);
	CHECK_STR(dw_strings_get(&p.strings, function_of(&p, l)->name), "exe+0x1234");
	CHECK_INT(function_of(&p, l)->flags, DWELL_FUNCTION_NO_SYMBOL);
	l = dw_locations_get(&p.locations, 2, &n);
	CHECK_STR(dw_strings_get(&p.strings, function_of(&p, l)->name), "[unknown]");
	CHECK_INT(dw_locations_get(&p.locations, 3, &n)->function, l->function);
	CHECK(!dw_locations_get(&p.locations, 4, &n));
	dw_profile_release(&p);
}

/* Make the file @name in @folder with @text. */
static bool write_list(const char *folder, const char *name, const char *text)
{
	char path[256];
	FILE *f;

	snprintf(path, sizeof path, "%s/%s", folder, name);
	f = fopen(path, "w");
	return f && fputs(text, f) >= 0 && !fclose(f);
}

TEST(debug_packages_are_those_of_the_files)
{
	static const char *const both[] = {"/usr/lib/libc.so.6", "/usr/lib/libtea.so.3"};
	static const char *const plain[] = {"/usr/bin/tea"}, *const none[] = {"/usr/lib/libte"};
	char folder[] = "/tmp/dwell-lists-XXXXXX", *names;

	CHECK(mkdtemp(folder));
	CHECK(write_list(folder, "libc6:amd64.list", "/.\n/lib\n/lib/libc.so.6\n"));
	CHECK(write_list(folder, "libtea3:amd64.list", "/usr/lib/libtea.so.3\n"));
	CHECK(write_list(folder, "tea.list", "/usr/bin/tea"));
	CHECK(write_list(folder, "tea.md5sums", "/usr/lib/libtea.so.3\n"));
	names = dw_debug_packages_in(folder, both, 2);
	CHECK(names && strstr(names, "libc6-dbg") && strstr(names, "libtea3-dbgsym"));
	CHECK_INT(strlen(names), strlen("libc6-dbg,libtea3-dbgsym"));
	free(names);
	names = dw_debug_packages_in(folder, plain, 1);
	CHECK_STR(names, "tea-dbgsym");
	free(names);
	CHECK(!dw_debug_packages_in(folder, none, 1));
	CHECK(!dw_debug_packages_in("/nowhere", both, 2));
	for (const char *const *name =
		     (const char *const[]){"libc6:amd64.list", "libtea3:amd64.list", "tea.list",
					   "tea.md5sums", NULL};
	     *name; name++) {
		char path[256];

		snprintf(path, sizeof path, "%s/%s", folder, *name);
		unlink(path);
	}
	rmdir(folder);
}

TEST_MAIN()
