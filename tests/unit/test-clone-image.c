/* Clones that run: a library of corners, before and after its functions lead to their clones. */
#include "check.h"

#include "base/cleanup.h"
#include "clone-loader.h"
#include "clone/clone.h"
#include "code/elf/elf.h"
#include "wire/identity.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <link.h>
#include <sys/stat.h>
#include <sys/wait.h>

DW_DEFINE_FREEP(dw_elf)

typedef int corner_fn(int);

static const char *const names[] = {
	"rip_operands",	   "loops",	  "with_endbr", "back_to_start", "recursion",
	"tails",	   "into_middle", "has_middle", "falls_through", "behind",
	"red_zone",	   "three_bytes", "two_bytes",	"by_table",	 "by_goto",
	"by_pointer",	   "uses_flags",  "has_cold",	"over_lock",	 "has_named",
	"keeps_its_stack", "may_switch",
};

enum { NAMES = sizeof names / sizeof *names, ARGUMENTS = 40, FUNCTIONS_MAX = 64 };

struct corners {
	void *library;
	uint8_t *module;
	uint8_t *image;
	size_t n;
	int results[NAMES][ARGUMENTS];
	uint64_t counts[FUNCTIONS_MAX];
	struct loaded_image loaded;
};

static const struct dw_clone_header *header_of(const struct corners *c)
{
	return (const void *)(c->image + DWELL_CLONE_HEADER_OFFSET);
}

static void run(const struct corners *c, int results[NAMES][ARGUMENTS])
{
	for (int i = 0; i < NAMES; i++) {
		corner_fn *f = (corner_fn *)(uintptr_t)dlsym(c->library, names[i]);

		for (int k = 0; k < ARGUMENTS; k++)
			results[i][k] = f ? f(k) : -1;
	}
}

static bool open_corners(struct corners *c, uint32_t probes, bool all_functions)
{
	struct dw_clone_options options = {.probes = probes, .all_functions = all_functions};
	dw_auto_close int fd = open(CLONE_CORNERS, O_RDONLY | O_CLOEXEC);
	dw_auto_ptr(dw_elf) elf = NULL;
	struct link_map *map;

	*c = (struct corners){.library = dlopen(CLONE_CORNERS, RTLD_NOW)};
	if (!c->library || dlinfo(c->library, RTLD_DI_LINKMAP, &map) || fd < 0 ||
	    dw_elf_open(fd, &elf, NULL) || dw_clone_make(elf, &options, &c->image, &c->n, NULL))
		return false;
	c->module = (uint8_t *)map->l_addr;
	run(c, c->results);
	return true;
}

/* The entry of the function called @name. */
static struct dw_clone_function_entry *entry_of(const struct corners *c, const char *name)
{
	const struct dw_clone_header *h = header_of(c);
	struct dw_clone_function_entry *f = (void *)(c->image + h->functions.at);
	uint64_t at = (uint64_t)((uint8_t *)dlsym(c->library, name) - c->module);

	for (uint32_t i = 0; i < h->functions.n; i++)
		if (f[i].start == at)
			return &f[i];
	return NULL;
}

/* What the slow path knows, in the child. */
static uint64_t *slow_counts;
static uint64_t slow_area;

static void slow(uint64_t area, uint32_t function)
{
	if (area != slow_area || (uintptr_t)__builtin_frame_address(0) % 16)
		_exit(3);
	slow_counts[function]++;
	__asm__ volatile("std; cld; xor %%eax, %%eax; cmp $1, %%eax" ::
				 : "rax", "rcx", "rdx", "rsi", "rdi", "r8", "r9", "r10", "r11",
				   "cc");
}

static bool load(struct corners *c, int64_t moved, bool is_slow, uint64_t *counts)
{
	slow_counts = counts;
	slow_area =
		(uint64_t)(uintptr_t)c->module + (uint64_t)header_of(c)->distance + (uint64_t)moved;
	return loader_load(c->image, c->module, moved, is_slow ? NULL : counts, slow, &c->loaded);
}

/* In a child, which may crash: whether all functions do the same from their clones, and, with
 * probes, how often they were called. */
static bool same_in_child(struct corners *c, int64_t moved, bool is_slow)
{
	int(*now)[ARGUMENTS] = malloc(sizeof c->results);
	uint64_t *counts = mmap(NULL, sizeof c->counts, PROT_READ | PROT_WRITE,
				MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	int status;
	pid_t pid = fork();

	if (!pid) {
		if (!load(c, moved, is_slow, counts))
			_exit(2);
		run(c, now);
		_exit(memcmp(now, c->results, sizeof c->results) ? 1 : 0);
	}
	free(now);
	waitpid(pid, &status, 0);
	memcpy(c->counts, counts, sizeof c->counts);
	munmap(counts, sizeof c->counts);
	return !status;
}

static void release(struct corners *c)
{
	free(c->image);
	dlclose(c->library);
}

TEST(all_functions_are_cloned)
{
	struct corners c;

	CHECK(open_corners(&c, DWELL_PROBES_NONE, false));
	for (int i = 0; i < NAMES; i++) {
		const struct dw_clone_function_entry *f = entry_of(&c, names[i]);

		CHECK(f);
		if (f->reason)
			CHECK_FAIL("%s: %s", names[i], dw_clone_reason_text(f->reason));
		CHECK(f->clone_at && !f->prefix_bytes && !(f->flags & DWELL_CLONE_PROBED));
		CHECK(f->flags & DWELL_CLONE_REDIRECTED);
	}
	release(&c);
}

TEST(clones_do_what_functions_do)
{
	static const uint32_t probes[] = {DWELL_PROBES_NONE, DWELL_PROBES_COUNT};

	for (int i = 0; i < 4; i++) {
		struct corners c;

		CHECK(open_corners(&c, probes[i / 2], true));
		CHECK(same_in_child(&c, i % 2 ? 64 << 20 : 0, false));
		release(&c);
	}
}

/* Numbers of calls when each function was called with each argument. */
static const struct {
	const char *name;
	uint64_t calls;
} calls[] = {
	{"rip_operands", ARGUMENTS + 10 + 10}, /* tails, by_table */
	{"with_endbr", ARGUMENTS + 20},
	{"over_lock", ARGUMENTS},
	{"back_to_start", ARGUMENTS},
	{"recursion", 2 * 5150 + 100}, /* of 0..15 twice, 0..7: calls(n) = 2 fib(n+1) - 1 */
	{"into_middle", ARGUMENTS},
	{"has_middle", ARGUMENTS},
	{"falls_through", ARGUMENTS},
	{"behind", 3 * ARGUMENTS}, /* fallen into, and by_pointer */
	{"returns_flags", ARGUMENTS},
	{"keeps_flags", ARGUMENTS},
	{"has_cold", ARGUMENTS},
	{"has_named", ARGUMENTS},
};

TEST(trampolines_count_each_call)
{
	for (int is_slow = 0; is_slow < 2; is_slow++) {
		const struct dw_clone_function_entry *first;
		struct corners c;

		CHECK(open_corners(&c, DWELL_PROBES_COUNT, true));
		CHECK(same_in_child(&c, 0, is_slow));
		first = (const void *)(c.image + header_of(&c)->functions.at);
		for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) {
			const struct dw_clone_function_entry *f = entry_of(&c, calls[i].name);

			printf("# %s\n", calls[i].name);
			CHECK(f);
			CHECK_INT(c.counts[f - first], calls[i].calls);
		}
		release(&c);
	}
}

TEST(parts_of_functions_and_short_ones_have_no_probes)
{
	struct corners c;

	CHECK(open_corners(&c, DWELL_PROBES_COUNT, false));
	CHECK_INT(entry_of(&c, "has_cold")[-1].flags, DWELL_CLONE_COLD);
	CHECK_INT(entry_of(&c, "has_named")[-1].flags, DWELL_CLONE_COLD);
	CHECK(!(entry_of(&c, "with_endbr")->flags & DWELL_CLONE_PROBED));
	CHECK(entry_of(&c, "recursion")->flags & DWELL_CLONE_PROBED);
	CHECK(entry_of(&c, "loops")->flags & DWELL_CLONE_PROBED);
	CHECK(entry_of(&c, "tails")->flags & DWELL_CLONE_PROBED);
	release(&c);
}

TEST(what_may_go_on_on_another_stack_is_marked)
{
	struct corners c;

	CHECK(open_corners(&c, DWELL_PROBES_TIME, true));
	CHECK(!(entry_of(&c, "recursion")->flags & DWELL_CLONE_SWITCHES));
	CHECK(!(entry_of(&c, "keeps_its_stack")->flags & DWELL_CLONE_SWITCHES));
	CHECK(entry_of(&c, "may_switch")->flags & DWELL_CLONE_SWITCHES);
	release(&c);
}

static bool only_recursion(void *ctx, uint64_t svma)
{
	return svma == *(uint64_t *)ctx;
}

TEST(only_chosen_functions_are_cloned)
{
	struct dw_clone_options options = {.probes = DWELL_PROBES_NONE,
					   .is_chosen = only_recursion,
					   .selection_key = "recursion"};
	dw_auto_close int fd = open(CLONE_CORNERS, O_RDONLY | O_CLOEXEC);
	dw_auto_ptr(dw_elf) elf = NULL;
	uint64_t svma;
	struct corners c;

	CHECK(open_corners(&c, DWELL_PROBES_NONE, false));
	free(c.image);
	svma = (uint64_t)((uint8_t *)dlsym(c.library, "recursion") - c.module);
	options.ctx = &svma;
	CHECK(!dw_elf_open(fd, &elf, NULL));
	CHECK(!dw_clone_make(elf, &options, &c.image, &c.n, NULL));
	CHECK_INT(header_of(&c)->patches.n, 1);
	CHECK_INT(entry_of(&c, "recursion")->reason, DWELL_CLONED);
	CHECK_INT(entry_of(&c, "loops")->reason, DWELL_LEFT_NOT_CHOSEN);
	CHECK(same_in_child(&c, 0, false));
	release(&c);
}

/* The hash of what was cloned, as the module has it in memory, and how many bytes that is. */
static uint64_t hash_in_memory(const struct corners *c, uint32_t *ret_bytes)
{
	const struct dw_clone_header *h = header_of(c);
	const struct dw_clone_function_entry *f = (const void *)(c->image + h->functions.at);
	uint64_t hash = DWELL_HASH_INIT;
	struct dw_identity_run run;

	*ret_bytes = 0;
	for (uint32_t i = 0; i < h->functions.n; *ret_bytes += run.end - run.start) {
		i = dw_identity_run(f, h->functions.n, i, &run);
		hash = dw_identity_hash(hash, c->module + run.start, run.end - run.start);
	}
	return hash;
}

/* Of a library of which one function is cloned no more than that is looked at. */
TEST(what_was_cloned_is_known_by_its_bytes)
{
	struct dw_clone_options options = {.is_chosen = only_recursion,
					   .selection_key = "recursion"};
	dw_auto_close int fd = open(CLONE_CORNERS, O_RDONLY | O_CLOEXEC);
	dw_auto_ptr(dw_elf) elf = NULL;
	uint32_t all, one;
	uint8_t *function;
	struct corners c;
	uint64_t svma;

	CHECK(open_corners(&c, DWELL_PROBES_NONE, true));
	CHECK(hash_in_memory(&c, &all) == header_of(&c)->cloned_hash);
	free(c.image);
	function = dlsym(c.library, "recursion");
	svma = (uint64_t)(function - c.module);
	options.ctx = &svma;
	CHECK(!dw_elf_open(fd, &elf, NULL));
	CHECK(!dw_clone_make(elf, &options, &c.image, &c.n, NULL));
	CHECK(hash_in_memory(&c, &one) == header_of(&c)->cloned_hash);
	CHECK(one == entry_of(&c, "recursion")->bytes && one < all);
	CHECK(!mprotect((void *)((uintptr_t)function & -4096ul), 8192, PROT_READ | PROT_WRITE));
	function[one - 1] ^= 1;
	CHECK(hash_in_memory(&c, &one) != header_of(&c)->cloned_hash);
	function[one - 1] ^= 1;
	CHECK(!mprotect((void *)((uintptr_t)function & -4096ul), 8192, PROT_READ | PROT_EXEC));
	release(&c);
}

/* The name of functions but for one, which has none. */
static const char *name_others(void *ctx, uint64_t svma)
{
	static char name[5000];

	snprintf(name, sizeof name, "%04999" PRIu64, svma);
	return svma == *(uint64_t *)ctx ? NULL : name;
}

/* The name that debuggers are told for the clone at @at of an image. NULL = none. *@is_shown: it is
 * in the symbol table that others read, too. */
static const char *debugger_name(const struct corners *c, uint64_t at, bool *is_shown)
{
	const struct dw_clone_object *o = (const void *)(c->image + DWELL_CLONE_OBJECT_OFFSET);
	const uint8_t *start = c->image + header_of(c)->constants_at + DWELL_CLONE_OBJECT_OFFSET;
	const Elf64_Shdr *table = &o->sections[DWELL_CLONE_SECTION_SYMTAB];
	const Elf64_Sym *symbols = (const void *)(start + table->sh_offset);
	const Elf64_Ehdr *elf = (const void *)c->image;
	const Elf64_Shdr *shown =
		(const Elf64_Shdr *)(c->image + elf->e_shoff) + DWELL_CLONE_SECTION_SYMTAB;

	if (c->image + shown->sh_offset != (const uint8_t *)symbols)
		return NULL;
	for (uint32_t i = 1; i < table->sh_info; i++) {
		if (symbols[i].st_value != at)
			continue;
		*is_shown = i < shown->sh_info;
		return (const char *)start + o->sections[DWELL_CLONE_SECTION_STRTAB].sh_offset +
		       symbols[i].st_name;
	}
	return NULL;
}

TEST(debuggers_are_told_a_name_of_each_clone)
{
	struct dw_clone_options options = {.name = name_others};
	dw_auto_close int fd = open(CLONE_CORNERS, O_RDONLY | O_CLOEXEC);
	dw_auto_ptr(dw_elf) elf = NULL;
	struct corners c;
	const char *name;
	char want[1024];
	bool is_shown;
	uint64_t svma;

	CHECK(open_corners(&c, DWELL_PROBES_NONE, true));
	free(c.image);
	svma = (uint64_t)((uint8_t *)dlsym(c.library, "recursion") - c.module);
	options.ctx = &svma;
	CHECK(!dw_elf_open(fd, &elf, NULL));
	CHECK(!dw_clone_make(elf, &options, &c.image, &c.n, NULL));
	name = debugger_name(&c, entry_of(&c, "recursion")->clone_at, &is_shown);
	snprintf(want, sizeof want, "fn_%" PRIx64, svma);
	CHECK(name && !is_shown);
	CHECK_STR(name, want);
	name = debugger_name(&c, entry_of(&c, "loops")->clone_at, &is_shown);
	CHECK(name && is_shown);
	CHECK_INT(strlen(name), 1023); /* no more of each name is kept */
	name = debugger_name(&c, header_of(&c)->code_at, &is_shown);
	CHECK(name && !is_shown);
	CHECK_STR(name, "dwell_trampolines");
	release(&c);
}

TEST(cached_images_are_made_once)
{
	struct dw_clone_options options = {.probes = DWELL_PROBES_NONE};
	dw_auto_close int fd = open(CLONE_CORNERS, O_RDONLY | O_CLOEXEC);
	char dir[] = "/tmp/dwell-test-clone-XXXXXX", command[64];
	dw_auto_free char *first = NULL, *second = NULL, *third = NULL;
	dw_auto_ptr(dw_elf) elf = NULL;
	struct stat a, b;

	CHECK(mkdtemp(dir) && !dw_elf_open(fd, &elf, NULL));
	CHECK_INT(dw_clone_cached(dir, elf, &options, &first, NULL), 0);
	CHECK_INT(stat(first, &a), 0);
	CHECK_INT(dw_clone_cached(dir, elf, &options, &second, NULL), 0);
	CHECK_INT(stat(second, &b), 0);
	CHECK_STR(second, first);
	CHECK_INT(a.st_ino, b.st_ino);
	CHECK_INT(truncate(first, a.st_size - 4096), 0); /* damaged: made anew */
	free(second);
	second = NULL;
	CHECK_INT(dw_clone_cached(dir, elf, &options, &second, NULL), 0);
	CHECK_INT(stat(second, &b), 0);
	CHECK_INT(a.st_size, b.st_size);
	options.probes = DWELL_PROBES_COUNT;
	CHECK_INT(dw_clone_cached(dir, elf, &options, &third, NULL), 0);
	CHECK(strcmp(third, first) != 0);
	CHECK_INT(chmod(dir, 0777), 0);
	free(third);
	third = NULL;
	CHECK_INT(dw_clone_cached(dir, elf, &options, &third, NULL), DWELL_ERR_REFUSED);
	snprintf(command, sizeof command, "rm -r %s", dir);
	CHECK_INT(system(command), 0);
}

TEST_MAIN()
