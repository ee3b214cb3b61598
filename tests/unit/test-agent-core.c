/* The agents' core, linked into a program: texts, environment, symbols, programs, region, guard.
 * What it does inside others: tests/e2e/test-agent.py. */
#include "agent/core/agent-internal.h"
#include "agent/core/exec.h"
#include "agent/core/memory.h"
#include "check.h"
#include "scratch.h"

#include <dlfcn.h>
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>

static int forked_n;

static void forked(void)
{
	forked_n++;
}

static void end(void)
{
}

const struct dw_agent_part dw_agent_part = {.forked = forked, .end = end};

TEST(texts)
{
	char text[8] = "ab";

	CHECK_STR(dw_text_after("abc", "ab"), "c");
	CHECK(!dw_text_after("ab", "abc"));
	CHECK(dw_text_equal("ab", "ab") && !dw_text_equal("ab", "a") && !dw_text_equal("a", "ab"));
	CHECK_STR(dw_text_find("a=b", '='), "=b");
	CHECK_INT(dw_text_number("120 kB"), 120);
	CHECK(dw_text_append_number(text, sizeof text, 0xfe0, 16));
	CHECK_STR(text, "abfe0");
	CHECK(dw_text_append(text, sizeof text, "xy"));
	CHECK(!dw_text_append(text, sizeof text, "z"));
	CHECK_STR(dw_text_option("time b=1 a=2", "a"), "2");
	CHECK_STR(dw_text_option("time b=1 a=2", "b"), "1 a=2");
	CHECK(!dw_text_option("time ab=1", "a") && !dw_text_option("time", "time"));
	CHECK_STR(text, "abfe0xy");
}

TEST(moves_that_overlap)
{
	char text[] = "0123456789";

	memmove(text + 2, text, 5);
	CHECK_STR(text, "0101234789");
	memmove(text, text + 2, 5);
	CHECK_STR(text, "0123434789");
	CHECK(memcmp("a\x80", "a\x7f", 2) > 0 && memcmp("ab", "ab", 2) == 0);
}

enum { ENTRIES_MAX = 8, TEXTS_MAX = 1024 };

/* An environment as the kernel lays it: pointers, auxiliary words, texts in a row. */
struct environment {
	char *envp[ENTRIES_MAX];
	Elf64_auxv_t auxiliary[2];
	char texts[TEXTS_MAX];
	char text_end[8];
};

static void make(struct environment *e, const char *const *entries)
{
	size_t n = 0, at = 0;

	memset(e, 0, sizeof *e);
	while (entries[n])
		n++;
	/* The words behind the last entry and its NULL are the auxiliary ones. */
	for (size_t i = 0; i < n; i++) {
		e->envp[ENTRIES_MAX - 1 - n + i] = e->texts + at;
		strcpy(e->texts + at, entries[i]);
		at += strlen(entries[i]) + 1;
	}
	e->auxiliary[0] = (Elf64_auxv_t){AT_PAGESZ, {4096}};
}

static char **take(struct environment *e, const char *const *entries, bool *ret_taken)
{
	uint64_t filters = 0;
	char **envp;
	size_t n = 0;

	while (entries[n])
		n++;
	make(e, entries);
	envp = e->envp + ENTRIES_MAX - 1 - n;
	*ret_taken = dw_environment_take(envp, "/lib/agent.so", &filters);
	return envp;
}

/* Where a walk behind the environment finds the auxiliary words. */
static unsigned long page_size_behind(char **envp)
{
	const Elf64_auxv_t *word;

	while (*envp)
		envp++;
	for (word = (const Elf64_auxv_t *)(envp + 1); word->a_type; word++)
		if (word->a_type == AT_PAGESZ)
			return word->a_un.a_val;
	return 0;
}

TEST(environment_is_taken)
{
	static const char *const entries[] = {"A=1",
					      "LD_PRELOAD=x.so /lib/agent.so",
					      "B=2",
					      "DWELL_FOLDER=/f",
					      "DWELL_MODE=count",
					      NULL};
	struct environment e;
	bool taken;
	char **envp = take(&e, entries, &taken);

	CHECK(taken);
	CHECK_STR(envp[0], "A=1");
	CHECK_STR(envp[1], "LD_PRELOAD=x.so");
	CHECK_STR(envp[2], "B=2");
	CHECK(!envp[3]);
	CHECK_INT(page_size_behind(envp), 4096);
	CHECK(!memcmp(e.texts, "A=1\0LD_PRELOAD=x.so\0B=2\0\0\0\0", 27));
	CHECK(!memmem(e.texts, sizeof e.texts, "DWELL", 5));
	CHECK(!memmem(e.texts, sizeof e.texts, "agent", 5));
	CHECK_STR(dw_agent.folder, "/f");
	CHECK_STR(dw_environment_mode(), "count");
	CHECK_STR(dw_agent.variables[DWELL_AGENT_VARIABLES - 1], "LD_PRELOAD=/lib/agent.so");
}

TEST(environment_of_two_agents)
{
	static const char *const entries[] = {"DWELL_FOLDER=/f",
					      "LD_PRELOAD=/lib/second.so:/lib/agent.so",
					      "A=1",
					      "DWELL_SECOND=/lib/second.so",
					      "DWELL_SECOND_START=code memory=1:/a:b",
					      NULL};
	static const char *const among[] = {"DWELL_FOLDER=/f", "DWELL_SECOND=/lib/second.so",
					    "LD_PRELOAD=x.so:/lib/second.so:/lib/agent.so", NULL};
	struct environment e;
	bool taken;
	char **envp = take(&e, entries, &taken);

	CHECK(taken);
	CHECK_STR(envp[0], "A=1");
	CHECK(!envp[1]);
	CHECK(!memmem(e.texts, sizeof e.texts, "second", 6));
	CHECK_STR(dw_environment_second(), "code memory=1:/a:b");
	CHECK_STR(dw_agent.variables[DWELL_AGENT_VARIABLES - 1],
		  "LD_PRELOAD=/lib/second.so:/lib/agent.so");
	CHECK(dw_environment_be_second("code memory=1:/a:b"));
	CHECK_STR(dw_environment_mode(), "code memory=1");
	CHECK_STR(dw_agent.folder, "/a:b");
	CHECK(!dw_environment_be_second("code"));
	envp = take(&e, among, &taken);
	CHECK_STR(envp[0], "LD_PRELOAD=x.so");
	CHECK(!dw_environment_second());
}

TEST(environment_of_others_is_left)
{
	static const char *const entries[] = {"LD_PRELOAD=/lib/agent.so", "DWELL_MODE=x", NULL};
	struct environment e;
	bool taken;
	char **envp = take(&e, entries, &taken);

	CHECK(!taken);
	CHECK_STR(envp[0], entries[0]);
	CHECK_STR(envp[1], entries[1]);
}

TEST(preload_among_others)
{
	static const char *const cases[][2] = {
		{"LD_PRELOAD=/lib/agent.so:a.so", "LD_PRELOAD=a.so"},
		{"LD_PRELOAD=a.so:/lib/agent.so:b.so", "LD_PRELOAD=a.so:b.so"},
		{"LD_PRELOAD=/lib/agent.so.1:/lib/agent.so", "LD_PRELOAD=/lib/agent.so.1"},
		{"LD_PRELOAD=a.so", "LD_PRELOAD=a.so"},
		{"LD_PRELOAD=/lib/agent.so", NULL},
	};

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		const char *const entries[] = {"DWELL_FOLDER=/f", cases[i][0], NULL};
		struct environment e;
		bool taken;
		char **envp = take(&e, entries, &taken);

		CHECK(taken);
		CHECK_STR(envp[0] ? envp[0] : "", cases[i][1] ? cases[i][1] : "");
	}
}

TEST(variables_that_are_too_long)
{
	static char text[DWELL_AGENT_TEXT + 100] = "DWELL_MODE=";
	const char *entries[] = {"DWELL_FOLDER=/f", text, NULL};
	static struct {
		char *envp[4];
		char folder[32];
		char mode[sizeof text];
	} e;
	uint64_t filters;

	memset(text + strlen(text), 'x', sizeof text - 1 - strlen(text));
	strcpy(e.folder, entries[0]);
	strcpy(e.mode, entries[1]);
	e.envp[0] = e.folder;
	e.envp[1] = e.mode;
	CHECK(!dw_environment_take(e.envp, "/lib/agent.so", &filters));
	CHECK(!e.envp[0]);
}

TEST(symbols_of_others)
{
	static const char *const names[] = {"malloc", "memcpy", "environ", "no_such_symbol"};

	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		CHECK(dw_real(names[i]) == dlsym(RTLD_NEXT, names[i]));
	CHECK(!dw_loader_own_path() || !*dw_loader_own_path()); /* the executable has no name */
	dw_errno_set(ELOOP);
	CHECK_INT(errno, ELOOP);
}

static enum dw_exec_fit fit(const char *path)
{
	const struct dw_exec_file file = {AT_FDCWD, path, 0};

	return dw_exec_program_fit(&file);
}

static void write_file(const char *path, const void *bytes, size_t n)
{
	FILE *f = fopen(path, "w");

	fwrite(bytes, 1, n, f);
	fclose(f);
	chmod(path, 0755);
}

static void write_text(const char *path, const char *text)
{
	write_file(path, text, strlen(text));
}

TEST(programs)
{
	CHECK(!dw_exec_program_start("/nowhere"));
	CHECK(dw_exec_program_start("/proc/self/exe"));
	CHECK_INT(fit("/bin/sh"), DWELL_EXEC_FITS);
	CHECK_INT(fit("/nowhere"), DWELL_EXEC_FAILS);
	CHECK_INT(fit("/bin/sh/x"), DWELL_EXEC_FAILS);
	CHECK_INT(fit("/"), DWELL_EXEC_OTHER);
	CHECK_INT(fit("/dev/null"), DWELL_EXEC_OTHER);
	mkfifo("pipe", 0777); /* opening it would wait */
	CHECK_INT(fit("pipe"), DWELL_EXEC_OTHER);
	write_text("empty", "");
	CHECK_INT(fit("empty"), DWELL_EXEC_OTHER);
	write_text("text", "text");
	CHECK_INT(fit("text"), DWELL_EXEC_OTHER);
	write_text("moved", "#!/bin/sh");
	dw_exec_program_start("text");
	CHECK_INT(fit("moved"), DWELL_EXEC_FITS);
	rename("moved", "text"); /* no more the file that it was */
	CHECK_INT(fit("/bin/sh"), DWELL_EXEC_AGENT);
}

TEST(scripts)
{
	char line[300] = "#!", name[16];

	dw_exec_program_start("/proc/self/exe");
	write_text("s0", "#! \t/bin/sh -e \n");
	CHECK_INT(fit("s0"), DWELL_EXEC_FITS);
	for (int i = 1; i <= 4; i++) {
		snprintf(line, sizeof line, "#!s%d\n", i - 1);
		snprintf(name, sizeof name, "s%d", i);
		write_text(name, line);
		CHECK_INT(fit(name), i < 4 ? DWELL_EXEC_FITS : DWELL_EXEC_OTHER);
	}
	write_text("no-name", "#! \n/bin/sh\n");
	CHECK_INT(fit("no-name"), DWELL_EXEC_OTHER);
	memset(line + 2, 'x', sizeof line - 2);
	write_file("too-long", line, sizeof line);
	CHECK_INT(fit("too-long"), DWELL_EXEC_OTHER);
}

/* Every cut and every changed byte of an ELF file's start is looked at without harm. */
TEST(damaged_programs)
{
	static unsigned char bytes[4096];
	FILE *f = fopen("/bin/true", "r");
	size_t n = fread(bytes, 1, sizeof bytes, f);

	fclose(f);
	CHECK_INT(n, sizeof bytes);
	dw_exec_program_start("/proc/self/exe");
	write_file("elf", bytes, n);
	CHECK_INT(fit("elf"), DWELL_EXEC_FITS);
	for (size_t cut = 1; cut < 900; cut += 7) {
		write_file("elf", bytes, cut);
		CHECK(fit("elf") != DWELL_EXEC_FAILS);
	}
	for (size_t at = 0; at < 900; at++) {
		bytes[at] ^= 0xff;
		write_file("elf", bytes, n);
		CHECK(fit("elf") != DWELL_EXEC_FAILS);
		bytes[at] ^= 0xff;
	}
	bytes[EI_CLASS] = ELFCLASS32;
	write_file("elf", bytes, n);
	CHECK_INT(fit("elf"), DWELL_EXEC_CLASS);
}

/* A region in the scratch folder, once for all tests; its file's descriptor. */
static int start_region(void)
{
	static int fd = -1;

	if (fd >= 0)
		return fd;
	if (getcwd(dw_agent.folder, sizeof dw_agent.folder) &&
	    !ftruncate(creat(DWELL_REGION_ALIVE, 0600), 4096) && dw_region_start())
		fd = open(dw_agent.path, O_RDONLY);
	return fd;
}

TEST(region)
{
	static struct dw_region_header header;
	int fd = start_region();
	struct stat st;
	uint64_t at;
	uint64_t *counts;

	CHECK(fd >= 0 && !fstat(fd, &st));
	CHECK_INT(st.st_mode & 07777, 0600);
	CHECK_INT(pread(fd, &header, sizeof header, 0), (int64_t)sizeof header);
	CHECK(!memcmp(header.magic, DWELL_REGION_MAGIC, sizeof header.magic));
	CHECK_INT(header.version, DWELL_REGION_VERSION);
	CHECK_INT(header.header_bytes, sizeof header);
	CHECK_INT(header.pid, getpid());
	CHECK_INT(header.parent_pid, getppid());
	CHECK_INT(header.bytes, st.st_size);
	/* Tables get memory when they are wanted. */
	CHECK((uint64_t)st.st_blocks * 512 < header.bytes);
	at = (uint64_t)st.st_blocks;
	CHECK(dw_agent_have(&dw_agent.region->modules[200], sizeof(*dw_agent.region->modules)));
	CHECK(!fstat(fd, &st) && (uint64_t)st.st_blocks > at);

	counts = dw_agent_chunk(DWELL_REGION_CHUNK_COUNTS, 3, 5000, &at);
	CHECK(counts && at == header.bytes);
	counts[600] = 42;
	dw_agent_drop(DWELL_DROP_MODULES);
	CHECK_INT(pread(fd, &header, sizeof header, 0), (int64_t)sizeof header);
	CHECK_INT(header.bytes, at + 8192);
	CHECK_INT(header.chunk_n, 1);
	CHECK_INT(header.chunks[0].module, 3);
	CHECK_INT(header.drops[DWELL_DROP_MODULES], 1);
	CHECK_INT(pread(fd, &at, sizeof at, (off_t)(at + 4800)), 8);
	CHECK_INT(at, 42);
}

TEST(region_is_bounded)
{
	struct rlimit limit, low = {4096, RLIM_INFINITY};
	uint64_t at;
	int n = 0;

	CHECK(start_region() >= 0);
	CHECK(!dw_agent_chunk(DWELL_REGION_CHUNK_COUNTS, 0, 0, &at));
	CHECK(!dw_agent_chunk(DWELL_REGION_CHUNK_COUNTS, 0, SIZE_MAX, &at));
	CHECK(!dw_agent_chunk(DWELL_REGION_CHUNK_COUNTS, 0, 65 << 20, &at));
	getrlimit(RLIMIT_FSIZE, &limit);
	low.rlim_max = limit.rlim_max;
	setrlimit(RLIMIT_FSIZE, &low);
	dw_agent.is_started = true; /* other threads could write: the limit is not lifted */
	CHECK(!dw_agent_chunk(DWELL_REGION_CHUNK_COUNTS, 0, 1, &at));
	dw_agent.is_started = false;
	CHECK(dw_agent_chunk(DWELL_REGION_CHUNK_COUNTS, 0, 1, &at));
	setrlimit(RLIMIT_FSIZE, &limit);
	while (dw_agent_chunk(DWELL_REGION_CHUNK_COUNTS, 0, 1, &at))
		n++;
	CHECK_INT(dw_agent_region()->chunk_n, DWELL_REGION_CHUNKS);
	CHECK(n > 400);
}

/* A child has a region of its own at the same addresses; what it does is not seen in ours. */
TEST(region_of_a_child)
{
	struct dw_region_header *header = dw_agent_region();
	char parent_path[sizeof dw_agent.path];
	pid_t pid;
	int status;

	CHECK(start_region() >= 0);
	strcpy(parent_path, dw_agent.path);
	header->modules[0].state = DWELL_MODULE_ASKED;
	header->modules[1].state = DWELL_MODULE_CLONED;
	dw_agent.module_n = 2;
	pid = fork();
	if (!pid) {
		dw_agent_after_fork();
		dw_agent_after_fork();
		_exit(!(dw_agent_is_on() && forked_n == 1 && header == dw_agent_region() &&
			header->is_fork && header->pid == (uint32_t)getpid() &&
			header->parent_pid == (uint32_t)getppid() && header->module_n == 2 &&
			header->modules[0].state == DWELL_MODULE_LATE &&
			header->modules[1].state == DWELL_MODULE_CLONED &&
			header->chunk_n == dw_agent.chunk_n && strcmp(parent_path, dw_agent.path)));
	}
	CHECK_INT(waitpid(pid, &status, 0), pid);
	CHECK_INT(status, 0);
	CHECK(!header->is_fork && header->pid == (uint32_t)getpid());
	CHECK_STR(dw_agent.path, parent_path);
}

/* Where it cannot have one, it goes on without, and its parent's stays untouched. */
TEST(child_without_a_region)
{
	struct dw_region_header *header = dw_agent_region();
	pid_t pid;
	int status;

	CHECK(start_region() >= 0);
	pid = fork();
	if (!pid) {
		strcpy(dw_agent.folder, "/nowhere");
		dw_agent_after_fork();
		dw_agent_off(DWELL_OFF_NO_MEMORY);
		_exit(dw_agent_is_on() || forked_n || header->pid);
	}
	CHECK_INT(waitpid(pid, &status, 0), pid);
	CHECK_INT(status, 0);
	CHECK_INT(header->off_reason, DWELL_OFF_NOT);
}

static volatile int handled;

static void on_signal(int number)
{
	(void)number;
	handled++;
}

TEST(guard)
{
	pid_t pid;
	int status;

	CHECK(start_region() >= 0);
	dw_agent.is_started = true;
	signal(SIGUSR1, on_signal);
	CHECK(dw_agent_enter());
	CHECK(!dw_agent_enter());
	raise(SIGUSR1);
	CHECK_INT(handled, 0);
	pid = fork();
	if (!pid) {
		dw_agent_leave();
		_exit(dw_agent_is_self() || !dw_agent_enter());
	}
	dw_agent_leave();
	CHECK_INT(handled, 1);
	CHECK_INT(waitpid(pid, &status, 0), pid);
	CHECK_INT(status, 0);
	CHECK(dw_agent_is_self());
	dw_agent.filters = 1;
	CHECK(!dw_agent_enter() && !dw_agent_is_self());
	dw_agent.filters = 0;
	dw_agent.is_started = false;
}

__attribute__((constructor)) static void reserve(void)
{
	dw_memory_start();
}

TEST_MAIN()
