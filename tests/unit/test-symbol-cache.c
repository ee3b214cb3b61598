/* What recordings leave behind about the addresses of a module: found for this very file, whole,
 * and never believed blindly. */
#include "check.h"
#include "scratch.h"

#include "symbol/symbol-cache.h"

#include <fcntl.h>
#include <sys/stat.h>

static const uint64_t two[] = {0x1000, 0x3000}, three[] = {0x1000, 0x2000, 0x3000};

/* A module called @path, and a question about it. */
struct module {
	struct dw_module_source source;
	struct dw_question q;
};

static void open_module(bool *check_failed, struct module *m, const char *path)
{
	m->source = (struct dw_module_source){.root_fd = -1};
	m->source.fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0644);
	CHECK(m->source.fd >= 0);
	CHECK(!ftruncate(m->source.fd, 100));
	m->q = (struct dw_question){.source = &m->source,
				    .debug_dirs = "/debug",
				    .debug_fd = -1,
				    .alt_fd = -1,
				    .unpacked_fd = -1};
}

/* An answer in which the @i-th of @n addresses lies in line @i + 1 of a function of its own. */
static void make_answer(bool *check_failed, struct dw_answer *a, size_t n)
{
	*a = (struct dw_answer){.has_debug = true};
	CHECK_INT(dw_vec_push(&a->functions, (struct dw_function){0}), 0);
	CHECK_INT(dw_vec_push(&a->first, 0), 0);
	for (uint32_t i = 0; i < n; i++) {
		struct dw_function f = {.svma = i};
		char name[8];

		snprintf(name, sizeof name, "f%u", i);
		CHECK_INT(dw_strings_adds(&a->strings, name, &f.name), 0);
		CHECK_INT(dw_vec_push(&a->functions, f), 0);
		CHECK_INT(dw_vec_push(&a->rows,
				      (struct dw_location){.function = i + 1, .line = i + 1}),
			  0);
		CHECK_INT(dw_vec_push(&a->first, i + 1), 0);
	}
}

/* Leave the answer to all of @svmas behind in the folder "cache". */
static void leave(bool *check_failed, const struct module *m, const uint64_t *svmas, size_t n)
{
	struct dw_symbol_cache k = {0};
	struct dw_answer a;

	make_answer(check_failed, &a, n);
	CHECK_INT(dw_symbol_cache_widen(&k, svmas, n), 0);
	CHECK_INT(dw_symbol_cache_write("cache", &m->q, &k, &a), 0);
	dw_answer_release(&a);
	dw_symbol_cache_release(&k);
}

/* How many addresses are known of @m. */
static size_t count(const struct module *m)
{
	struct dw_symbol_cache k = {0};
	int rc = dw_symbol_cache_read("cache", &m->q, &k);
	size_t n = k.n;

	if (rc && (k.n || k.svmas))
		n = SIZE_MAX;
	dw_symbol_cache_release(&k);
	return n;
}

TEST(part_of_what_is_known_can_be_had)
{
	struct dw_symbol_cache k = {0};
	struct module m;

	open_module(check_failed, &m, "module");
	leave(check_failed, &m, three, 3);
	CHECK_INT(dw_symbol_cache_read("cache", &m.q, &k), 0);
	CHECK_INT(k.n, 3);
	CHECK(k.answer.has_debug);
	CHECK(dw_symbol_cache_has(&k, 0x2000));
	CHECK(!dw_symbol_cache_has(&k, 0x2001));
	CHECK(!dw_symbol_cache_has(&k, 0x4000));
	CHECK_INT(dw_symbol_cache_narrow(&k, two, 2, &k.answer), 0);
	CHECK_INT(k.answer.first.n, 3);
	CHECK_INT(k.answer.rows.n, 2);
	CHECK_INT(k.answer.rows.v[1].line, 3);
	CHECK_STR(dw_strings_get(&k.answer.strings,
				 k.answer.functions.v[k.answer.rows.v[1].function].name),
		  "f2");
	dw_symbol_cache_release(&k);
	close(m.source.fd);
}

TEST(what_is_asked_grows)
{
	static const uint64_t other[] = {0x800, 0x2000, 0x5000};
	struct dw_symbol_cache k = {0};

	CHECK_INT(dw_symbol_cache_widen(&k, two, 2), 0);
	CHECK_INT(dw_symbol_cache_widen(&k, other, 3), 0);
	CHECK_INT(k.n, 5);
	for (size_t i = 1; i < k.n; i++)
		CHECK(k.svmas[i - 1] < k.svmas[i]);
	CHECK_INT(dw_symbol_cache_widen(&k, three, 3), 0);
	CHECK_INT(k.n, 5);
	k.n = DWELL_SYMBOL_CACHE_MAX - 2; /* too many: only what is asked now */
	k.svmas = realloc(k.svmas, k.n * sizeof *k.svmas);
	CHECK_INT(dw_symbol_cache_widen(&k, three, 3), 0);
	CHECK_INT(k.n, 3);
	dw_symbol_cache_release(&k);
}

TEST(another_file_has_nothing)
{
	struct module m, n;
	struct timespec times[2] = {{1, 0}, {2, 0}};

	open_module(check_failed, &m, "one");
	open_module(check_failed, &n, "two");
	leave(check_failed, &m, three, 3);
	CHECK_INT(count(&m), 3);
	CHECK_INT(count(&n), 0);
	m.q.debug_dirs = "/elsewhere";
	CHECK_INT(count(&m), 0);
	m.q.debug_dirs = "/debug";
	CHECK(!futimens(m.source.fd, times));
	CHECK_INT(count(&m), 0);
	close(m.source.fd);
	close(n.source.fd);
}

TEST(some_files_are_not_trusted)
{
	struct module m;

	open_module(check_failed, &m, "open");
	CHECK(dw_symbol_cache_may_keep(&m.q));
	CHECK(!fchmod(m.source.fd, 0646));
	CHECK(!dw_symbol_cache_may_keep(&m.q));
	CHECK(!fchmod(m.source.fd, 0644));
	m.q.names_only = true;
	CHECK(!dw_symbol_cache_may_keep(&m.q));
	m.q.names_only = false;
	m.source.root_fd = m.source.fd; /* of another root */
	CHECK(!dw_symbol_cache_may_keep(&m.q));
	close(m.source.fd);
}

TEST(what_is_damaged_is_nothing)
{
	struct module m;
	struct stat st;
	int fd;
	char byte;

	CHECK(!system("rm -rf cache"));
	open_module(check_failed, &m, "damaged");
	leave(check_failed, &m, three, 3);
	fd = open(scratch_only_file("cache"), O_RDWR | O_CLOEXEC);
	CHECK(fd >= 0 && !fstat(fd, &st));
	for (off_t at = 0; at < st.st_size; at++) {
		CHECK_INT(pread(fd, &byte, 1, at), 1);
		byte ^= 0x10;
		CHECK_INT(pwrite(fd, &byte, 1, at), 1);
		CHECK_INT(count(&m), 0);
		byte ^= 0x10;
		CHECK_INT(pwrite(fd, &byte, 1, at), 1);
	}
	CHECK_INT(count(&m), 3);
	CHECK(!ftruncate(fd, st.st_size - 1));
	CHECK_INT(count(&m), 0);
	close(fd);
	close(m.source.fd);
}

TEST_MAIN()
