/* Plans of indirect jumps: what is found, what is rightly refused, and that clones do the same. */
#include "check.h"

#include "base/cleanup.h"
#include "clone-loader.h"
#include "clone/clone.h"
#include "clone/plan/jumps.h"
#include "clone/verify/verify.h"
#include "code/elf/elf.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <link.h>
#include <sys/wait.h>
#include <unistd.h>

DW_DEFINE_FREEP(dw_elf)

enum { ARGUMENTS = 40, TABLE = DWELL_JUMP_TABLE, MAP = DWELL_JUMP_MAP, LEAVE = DWELL_JUMP_LEAVE };

/* What the plan of a function's last jump must be. */
static const struct expected {
	const char *name;
	uint8_t how;
	uint32_t entries;
	uint32_t restores;
	uint8_t reason;
} expected[] = {
	{"plain", TABLE, 4, 0, 0},
	{"hoisted", TABLE, 4, 1, 0}, /* a call may read any register */
	{"two_tables", MAP, 0, 0, 0},
	{"given", MAP, 0, 0, 0},
	{"used", MAP, 0, 0, 0},
	{"live", TABLE, 4, 1, 0},
	{"flags", TABLE, 4, 1, 0},
	{"to_base", TABLE, 4, 4, 0},
	{"by_lea", TABLE, 4, 0, 0},
	{"extended", TABLE, 4, 0, 0},
	{"words", TABLE, 4, 0, 0},
	{"in_memory", TABLE, 4, 0, 0},
	{"writable", MAP, 0, 0, 0},
	{"leaving", LEAVE, 0, 0, 0},
	{"labelled", MAP, 0, 0, 0},
	{"crowded", MAP, 0, 0, DWELL_LEFT_RED_ZONE},
	{"unbounded", TABLE, 4, 0, 0},
	{"compared_memory", TABLE, 3, 0, 0},
	{"around_endless", TABLE, 4, 0, 0},
	{"wild", MAP, 0, 0, 0},
	{"past_end", TABLE, 4, 0, 0},
};

enum { EXPECTED = sizeof expected / sizeof *expected };

static struct dw_elf *open_elf(const char *path)
{
	dw_auto_close int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct dw_elf *elf = NULL;

	return fd < 0 || dw_elf_open(fd, &elf, NULL) ? NULL : elf;
}

static bool plan(const struct dw_elf *elf, struct dw_clone_module *m)
{
	return !dw_clone_module_read(elf, m, NULL) && !dw_clone_module_decode(m) &&
	       !dw_jumps_plan(m);
}

/* The plan of the last indirect jump of @f. NULL = none. */
static const struct dw_jump_plan *last_jump(const struct dw_clone_module *m,
					    const struct dw_clone_function *f)
{
	const struct dw_jump_plan *ret = NULL;

	dw_vec_each(p, &m->jumps)
		if (p->insn - f->first < f->n)
			ret = p;
	return ret;
}

/* Where the sample's function @name is, as svma. */
static uint64_t svma_of(void *library, const char *name)
{
	struct link_map *map;

	if (dlinfo(library, RTLD_DI_LINKMAP, &map))
		return 0;
	return (uint64_t)(uintptr_t)dlsym(library, name) - map->l_addr;
}

TEST(forms_are_found_and_refused)
{
	dw_auto_ptr(dw_elf) elf = open_elf(JUMPS_SAMPLE);
	void *library = dlopen(JUMPS_SAMPLE, RTLD_NOW);
	struct dw_clone_module m;

	CHECK(elf && library && plan(elf, &m));
	for (int i = 0; i < EXPECTED; i++) {
		const struct dw_clone_function *f =
			dw_clone_function_at(&m, svma_of(library, expected[i].name));
		const struct dw_jump_plan *p = f ? last_jump(&m, f) : NULL;

		printf("# %s\n", expected[i].name);
		CHECK(p);
		CHECK_INT(p->how, expected[i].how);
		CHECK_INT(f->reason, expected[i].reason);
		CHECK_INT(f->has_map, p->how == MAP);
		CHECK(dw_jumps_find(&m, p->insn) == p);
		if (p->how != TABLE)
			continue;
		CHECK_INT(m.jump_tables.v[p->table].n, expected[i].entries);
		CHECK_INT(p->restores, expected[i].restores);
		CHECK(dw_jumps_find_load(&m, p->load) == p);
	}
	dw_clone_module_release(&m);
	dlclose(library);
}

TEST(free_stack_is_known)
{
	dw_auto_ptr(dw_elf) elf = open_elf(JUMPS_SAMPLE);
	void *library = dlopen(JUMPS_SAMPLE, RTLD_NOW);
	struct dw_clone_module m;

	CHECK(elf && library && plan(elf, &m));
	CHECK_INT(last_jump(&m, dw_clone_function_at(&m, svma_of(library, "labelled")))->free_below,
		  -16);
	CHECK_INT(last_jump(&m, dw_clone_function_at(&m, svma_of(library, "given")))->free_below,
		  0);
	dw_clone_module_release(&m);
	dlclose(library);
}

TEST(entries_of_cases_that_cannot_be)
{
	dw_auto_ptr(dw_elf) elf = open_elf(JUMPS_SAMPLE);
	void *library = dlopen(JUMPS_SAMPLE, RTLD_NOW);
	const struct dw_jump_entry *entries;
	const struct dw_clone_function *f;
	struct dw_clone_module m;

	CHECK(elf && library && plan(elf, &m));
	f = dw_clone_function_at(&m, svma_of(library, "past_end"));
	entries = &m.jump_entries.v[m.jump_tables.v[last_jump(&m, f)->table].first];
	CHECK_INT(entries[1].to, DWELL_JUMP_TO_CLONE);
	CHECK_INT(entries[2].to, DWELL_JUMP_TO_MODULE);
	CHECK_INT(entries[2].svma, f->end);
	dw_clone_module_release(&m);
	dlclose(library);
}

TEST(tables_at_fixed_addresses)
{
	dw_auto_ptr(dw_elf) elf = open_elf(JUMPS_SAMPLE_FIXED);
	struct dw_clone_module m;

	CHECK(elf && plan(elf, &m));
	CHECK_INT(m.jumps.n, 2);
	dw_vec_each(p, &m.jumps) {
		CHECK_INT(p->how, TABLE);
		CHECK(p->is_absolute);
		CHECK_INT(m.jump_tables.v[p->table].n, 4);
		CHECK_INT(m.jump_tables.v[p->table].start, p->load_disp);
	}
	CHECK_INT(m.jump_tables.n, 2);
	dw_clone_module_release(&m);
}

static void run(void *library, int results[EXPECTED][ARGUMENTS])
{
	for (int i = 0; i < EXPECTED; i++) {
		bool given = !strcmp(expected[i].name, "given");
		int (*f)(int) =
			(int (*)(int))(uintptr_t)dlsym(library, given ? "gives" : expected[i].name);

		for (int k = 0; k < ARGUMENTS; k++)
			results[i][k] = f(k);
	}
}

static void unused_slow(uint64_t area, uint32_t function)
{
	(void)area;
	(void)function;
}

/* The number of the first function that does something else from its clone, in a child; EXPECTED:
 * none does; -1: it cannot be told. */
static int first_other(void *library, const uint8_t *image, int results[EXPECTED][ARGUMENTS])
{
	static uint64_t counts[256];
	struct loaded_image loaded;
	struct link_map *map;
	int status;
	pid_t pid;

	if (dlinfo(library, RTLD_DI_LINKMAP, &map))
		return -1;
	pid = fork();
	if (!pid) {
		int now[EXPECTED][ARGUMENTS], i = 0;

		if (!loader_load(image, (uint8_t *)map->l_addr, 0, counts, unused_slow, &loaded))
			_exit(255);
		run(library, now);
		while (i < EXPECTED && !memcmp(now[i], results[i], sizeof now[i]))
			i++;
		_exit(i);
	}
	waitpid(pid, &status, 0);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

TEST(clones_do_the_same)
{
	dw_auto_ptr(dw_elf) elf = open_elf(JUMPS_SAMPLE);
	void *library = dlopen(JUMPS_SAMPLE, RTLD_NOW);
	int results[EXPECTED][ARGUMENTS];

	CHECK(elf && library);
	run(library, results);
	for (uint32_t probes = DWELL_PROBES_NONE; probes <= DWELL_PROBES_COUNT; probes++) {
		struct dw_clone_options options = {.probes = probes, .all_functions = true};
		struct dw_verify_result found;
		uint8_t *image;
		size_t n;

		CHECK_INT(dw_clone_make(elf, &options, &image, &n, NULL), 0);
		CHECK_INT(dw_clone_verify(elf, image, n, &found, NULL), 0);
		CHECK_INT(found.findings_n, 0);
		CHECK_INT(first_other(library, image, results), EXPECTED);
		free(image);
	}
	dlclose(library);
}

TEST_MAIN()
